"""The other plots. Format: see `notation`."""

SWAP = """
Swap:
  <SwapHas> <SwapOther> <SwapAsk> <SwapDo> <SwapThird> <SwapEnd>
  <SwapHas> <SwapOther> <SwapAsk> <SwapDo> <SwapBack>
SwapHas:
  {hero} had {look:look.a} {thing:thing}, but {hero.he} wanted something new.
  {hero} had {look:look.a} {thing:thing}. "It is nice," {hero.he} said, "but I want something new."
SwapOther:
  {friend} had {other:thing2.a} and liked to {other.use}.
  {friend} had {other:thing2.a} that {hero} liked.
  One day {hero.he} saw {friend} with {other:thing2.a}.
SwapAsk:
  "Will you give me your {other} for my {thing}?" asked {hero}. "(Yes|Gladly)," said {friend}.
  "I will give you my {look} {thing} for it," said {hero}. {friend} (laughed|thought) and said yes.
SwapDo:
  So {friend} got the {thing}, and {hero} got the {other}.
  So {hero} gave {friend} the {look} {thing} and took the {other}.
SwapThird:
  The next day {third:folk3} saw the {other}. "I will give you {last:thing3.a} for it," said {third}. <SwapAgain>
  Then {hero} met {third:folk3} in the {:place}. {third} had {last:thing3.a} and wanted the {other}. <SwapAgain>
SwapAgain:
  So now {third} had the {other}, and {hero} had the {last}.
  {hero} gave {third} the {other} and got the {last}.
SwapEnd:
  In the end {friend} had the {thing}, {third} had the {other}, and {hero} had the {last}.
  {hero} looked at the {last} and was happy, and {friend} was happy with the {thing}.
  "I like my {last} best of all," said {hero}.
SwapBack:
  But at night {hero.he} missed {hero.his} {thing}. <SwapReturn>
  But soon {hero} was sad, for {hero.he} missed the {look} {thing}. <SwapReturn>
SwapReturn:
  So {hero.he} took the {other} back to {friend}, and {friend} gave {hero.him} the {thing}.
  "May I have my {thing} again?" {hero.he} asked {friend}. "Of course," said {friend}, and took the {other}.
"""

SOUP = """
Soup:
  <SoupPlan> <SoupFirst> <SoupSecond> <SoupCook> <SoupEat>
SoupPlan:
  One {:weather} {:time} {hero} wanted to make soup, but {hero.he} had only {one:vegetable}.
  {hero} was hungry. {hero.He} had a big pot and some {one:vegetable}, but that was not enough for a soup.
  "Today I will cook a soup," said {hero} in the {home}, and put some {one:vegetable} into the pot.
SoupFirst:
  {friend} came by and brought some {two:vegetable2}.
  "I have some {two:vegetable2}," said {friend}.
  Then {friend} came with a bag of {two:vegetable2}.
SoupSecond:
  The {elder:elder} brought some {three:vegetable3}.
  "Take these {three:vegetable3} too," said the {elder:elder}.
  From the {elder:elder} they got some {three:vegetable3}.
SoupCook:
  So they made a soup of {one}, {two} and {three}.
  Into the pot went the {one}, the {two} and the {three}.
  {hero} cooked the {one}, {friend} washed the {two}, and the {elder} added the {three}.
SoupEat:
  It was the best soup in the (village|world|land). <SoupSay>
  The soup was hot and good, and they all ate (two|three) plates of it. <SoupSay>
SoupSay:
  "The {two} are very good," said the {elder}. "I brought them," said {friend}.
  "Thank you for the {three}," said {hero} to the {elder}.
  {friend} liked the {one} best, and the {elder} liked the {two}.
"""

SECRET = """
Secret:
  <SecretFind> <SecretShow> <SecretKept>
  <SecretFind> <SecretShow> <SecretTold>
SecretFind:
  One {:weather} {:time} {hero} found {secret:secret}. Inside, {secret.inside}.
  Nobody but {hero} knew about {secret:secret}. Inside, {secret.inside}.
SecretShow:
  {hero.He} showed it to {friend}. "Do not tell (anybody|anyone)," said {hero}.
  "Can you keep a secret?" {hero.he} asked {friend}. "I can," said {friend}. \
    So {hero} showed {friend.him} the {secret.short}.
  {hero.He} told only {friend}. {friend} promised to tell nobody.
SecretKept:
  {friend} kept the secret. <SecretPlay>
  {third:folk3} asked about it, but {friend} did not say a word. <SecretPlay>
SecretPlay:
  All summer {hero} and {friend} met at the {secret.short}.
  "You are a true friend," said {hero}, and they went to the {secret.short} every day.
  The {secret.short} was theirs alone, and that made them (happy|proud|glad).
SecretTold:
  But {friend} told {third:folk3}, and soon everybody knew about the {secret.short}. <SecretHurt> <SecretSorry>
  The next day {hero} saw {third:folk3} at the {secret.short}. {friend} had told {third.him}! <SecretHurt> <SecretSorry>
SecretHurt:
  {hero} was (sad|angry) and did not speak to {friend} for (two|three|five) days.
  "Why did you tell {third}?" asked {hero}.
SecretSorry:
  "I am sorry," said {friend}, and brought {hero} {:food.a}. So they were friends again.
  {friend} was sorry and gave {hero} {:look.a} {:thing2}. {hero} forgave {friend.him}.
  "I will never do it again," said {friend}. And {hero} believed {friend.him}.
"""

SEED = """
Seed:
  <SeedPlant> <SeedWait> <SeedGrow> <SeedEnd>
SeedPlant:
  In spring {hero} put a seed into the ground (behind|beside) the {home}. <SeedDoubt>
  The {elder:elder} gave {hero} a seed. "Give it water and wait," {elder.he} said. <SeedDoubt>
  One (warm|bright|sunny) {:time} in spring {hero} found a seed and put it into the ground. <SeedDoubt>
SeedDoubt:
  "Nothing will grow there," said {friend}.
  {friend} came and laughed. "That is only a stone!" {friend.he} said.
SeedWait:
  But {hero} gave it water every (day|morning|evening).
  {hero} waited for (days|weeks), and {hero.he} was patient.
  Then came {animal:animal2.a} and wanted to eat the seed, but {hero} gave it {animal.treat}.
SeedGrow:
  And one {:time} a little green leaf came up. It grew into {plant:plant.a}, {plant.tall}.
  Soon there was {plant:plant.a}, {plant.tall}.
  In summer it was {plant:plant.a}, {plant.tall}.
SeedEnd:
  "I was wrong," said {friend}. {hero} smiled and gave {friend.him} some {plant.fruit}.
  When {friend} saw the {plant}, {friend.he} could not believe it. "Have some {plant.fruit}," said {hero}.
  {hero} gave {plant.fruit} to everyone, and {friend} got the most.
"""

VISIT = """
Visit:
  <VisitWhy> <VisitMeet> <VisitShare> <VisitHome>
VisitWhy:
  The {relative:relative} of {hero} was ill. So {hero} put {first:food.a} and {second:food2.a} into a basket \
    and went to see {relative.him}.
  One {:weather} {:time} {hero} wanted to visit {hero.his} {relative:relative} \
    and bring {relative.him} {first:food.a} and {second:food2.a}.
  "Take the {first:food} and the {second:food2} to your {relative:relative}," said {hero.his} mother.
VisitMeet:
  On the way, near the {:place}, {hero.he} met {animal:animal.a}. "I am so hungry," it said.
  In the {:place} sat {animal:animal.a}. "What is in your basket?" it asked. \
    "The {first} and the {second}," said {hero}.
  The way led past the {:place}. There {hero.he} heard {animal:animal.a} {animal.sound}.
VisitShare:
  {hero} gave it some of the {first}. As thanks the {animal} showed {hero.him} the (short|best|quick) way.
  "You may have some of the {second}," said {hero}. The {animal} thanked {hero.him} and {animal.move} away.
  {hero} felt sorry for the {animal} and shared the {first} with it.
VisitHome:
  Soon {hero} was at the house of {hero.his} {relative}. Together they ate the {second}.
  "I am so glad to see you," said {hero.his} {relative}, and {relative.he} ate the {first} and the {second}.
  {hero.His} {relative} was very happy. "You brought me {second.a}!" {relative.he} said.
"""

THIEF = """
Thief:
  <ThiefBake> <ThiefGone> <ThiefAsk> <ThiefFind> <ThiefEnd>
ThiefBake:
  One {:weather} {:time} {hero} baked {cake:cake.a} in the {home}.
  {hero} had baked {cake:cake.a} for {hero.his} {:relative}. It smelled (sweet|wonderful|good).
  There was {cake:cake.a} on the table, and {hero} wanted to eat it in the evening.
ThiefGone:
  But soon the plate was empty. "Who took my {cake}?" (cried|asked) {hero}.
  {hero} only went to get some (milk|tea|water). When {hero.he} came back, the {cake} was gone!
ThiefAsk:
  First {hero.he} asked the {suspect:animal2}. "I was in the {:place}," it said. "I know nothing."
  "Was it you?" {hero.he} asked the {suspect:animal2}. "No," it said. "I would rather have {suspect.treat}."
  "It was not me," said the {suspect:animal2}, "but I saw something run to the {:place}."
ThiefFind:
  Then {hero} saw the {thief:animal}. It had (crumbs|sugar) on its (nose|feet).
  Behind the house sat {thief:animal.a} with a very round belly.
  There were crumbs on the path. {hero} followed them and found {thief:animal.a}.
ThiefEnd:
  "I am sorry," said the {thief}. "The {cake} was so good." {hero} had to laugh.
  "Next time you can ask me," said {hero}, and gave the {thief} {thief.treat}.
  The {thief} was sorry and helped {hero} to bake a new {cake}.
"""

HIDE = """
Hide:
  <HidePlay> <HideWhere> <HideLook> <HideFind> <HideEnd>
HidePlay:
  One {:weather} {:time} {hero} and {friend} played hide and seek.
  "Let us play hide and seek," {friend} said to {hero}.
HideWhere:
  {friend} counted to (ten|twenty|fifty), and {hero} hid behind the {spot:cover}.
  {friend} closed {friend.his} eyes. Very quietly {hero} hid behind the {spot:cover}.
HideLook:
  {friend} looked in the {:room} and in the {:room2}, but {hero} was not there.
  "Are you in the {:room}?" called {friend}. No. "Are you in the {:room2}?" No.
HideFind:
  {hero} waited so long that {hero.he} fell asleep. At last {friend} looked behind the {spot}, and there {hero.he} was.
  But then {hero} had to (laugh|cough|sneeze), and {friend} found {hero.him} behind the {spot}.
  {animal:animal.A} saw {hero} behind the {spot} and began to {animal.sound}. So {friend} found {hero.him}.
HideEnd:
  "Now it is my turn to count," said {hero}. {friend} hid in the {:room}, and {hero} found {friend.him} at once.
  "That was a good place," said {friend}. "Next time I will hide behind the {spot} too."
  They played until it was dark, and then they ate {:food.a} together.
"""

BRAVE = """
Brave:
  <BraveFear> <BraveCall> <BraveGo> <BraveEnd>
BraveFear:
  But {hero} was afraid of {fear:fear}. "You will never be brave," said {friend}.
  There was one thing {hero} did not like, and that was {fear:fear}. {friend} often laughed at {hero.him}.
  "I am not afraid of {fear:fear}," said {friend}. But {hero} was.
BraveCall:
  One night {hero.he} heard {animal:animal.a} {animal.sound}. It {trouble:trouble}, and nobody else was there.
  One {:weather} evening {animal:animal.a} needed help. It {trouble:trouble}.
BraveGo:
  To help it, {hero} had to {fear.face}. {hero.He} took a deep breath and went. Then {hero.he} {trouble.cure}.
  "I must {fear.face}," thought {hero}, "or nobody will help the {animal}." So {hero.he} went and {trouble.cure}.
BraveEnd:
  The {animal} was safe, and {hero} was not afraid of {fear} any more.
  "You are braver than I am," said {friend}, and {hero} was proud.
  The {animal} never left {hero} again, and {friend} never laughed at {hero.him} again.
"""
