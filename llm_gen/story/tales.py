"""The rules of the stories: the plots. Format: see `notation`."""

from llm_gen.story.frame import FRAME
from llm_gen.story.grammar import Grammar
from llm_gen.story.more_tales import BRAVE, HIDE, SECRET, SEED, SOUP, SWAP, THIEF, VISIT
from llm_gen.story.words import LEXICON

LOST = """
Lost:
  <LostHas> <LostGone> <LostSad> <LostFriend> <LostEnd>
  <LostHas> <LostGone> <LostSad> <LostAnimal> <LostEnd>
LostHas:
  {hero} had {look:look.a} {thing:thing} and loved to {thing.use}.
  The favourite thing of {hero} was {look:look.a} {thing:thing}.
  On {hero.his} birthday {hero} got {look:look.a} {thing:thing}, and soon {hero.he} loved to {thing.use}.
  Of all {hero.his} things, {hero} loved {hero.his} {look:look} {thing:thing} the most.
LostGone:
  One {:weather} {:time} {hero.he} took it to the {place:place}. When {hero.he} came home, the {thing} was gone.
  One day {hero} played in the {place:place}. On the way home {hero.he} saw that the {look} {thing} was not there.
  But one {:weather} {:time}, in the {place:place}, {hero.he} lost the {thing}.
  After a {:weather} {:time} in the {place:place}, {hero} could not find the {thing} any more.
LostSad:
  "Where is my {thing}?" (cried|asked) {hero}.
  {hero} was very (sad|unhappy) and began to cry.
  {hero} looked everywhere in the {home}, but the {look} {thing} was not there.
  "Oh no!" cried {hero}. "My {look} {thing} is gone!"
LostFriend:
  <FriendComes> <FriendHelps> <FriendFinds> <FriendThanks>
FriendComes:
  Then {friend} came by.
  At the door of the {home} {hero.he} met {friend}.
  {hero.He} told {friend} about it.
  {friend} saw it and came to help.
FriendHelps:
  "Do not (cry|worry|be sad)," said {friend}. "I will help you." So they went to the {place}.
  "Let us look for it in the {place}," said {friend}.
  Together they (went|ran|walked) back to the {place} and looked for a long time.
  They looked for the {thing} in the {place} until (noon|it was dark|evening).
FriendFinds:
  At last {friend} found the {look} {thing} in the {place}, {place.spot}.
  And there it was in the {place}, {place.spot}!
  "Here it is!" cried {friend}. The {thing} was in the {place}, {place.spot}.
  In the {place}, {place.spot}, {friend} saw something {look}. It was the {thing}!
FriendThanks:
  "Thank you, {friend}!" said {hero}.
  {hero} thanked {friend} (again and again|with a big smile) and gave {friend.him} {:food.a}.
  {hero} was so happy that {hero.he} gave {friend} {:food.a}.
  "You are a good friend, {friend}," said {hero}.
LostAnimal:
  <AnimalComes> <AnimalHelps> <AnimalThanks>
AnimalComes:
  On the path sat {helper:animal2.a}. "Why are you sad?" asked the {helper}. "I lost my {look} {thing}," said {hero}.
  On the way to the {place} {hero.he} met {helper:animal2.a}. "Did you see my {thing}?" asked {hero}.
  {helper:animal2.A} heard {hero.him}. "What did you lose?" it asked. "My {thing}," said {hero}.
AnimalHelps:
  The {helper} flew away and soon came back with the {thing}. It had been in the {place}, {place.spot}.
  "I saw {look.a} {thing} in the {place}, {place.spot}," said the {helper}. {hero} ran there, and it was true.
  The {helper} flew to the {place}. There it found the {look} {thing}, {place.spot}.
AnimalThanks:
  {hero} thanked the {helper} and gave it {helper.treat}.
  "Thank you, dear {helper}!" said {hero}.
  The {helper} got {helper.treat} for its help.
LostEnd:
  From that day on {hero.he} took good care of the {thing}.
  {hero} never lost the {thing} again.
  That evening the {look} {thing} lay safely beside {hero.his} bed.
"""

GIFT = """
Gift:
  <GiftWhy> <GiftMake> <GiftGive> <GiftEnd>
  <GiftWhy> <GiftEarn> <GiftGive> <GiftEnd>
GiftWhy:
  Soon {friend} had a birthday, but {hero} had no money for a present.
  "Soon it is the birthday of {friend}," thought {hero}, "and I have no present!"
  {hero} wanted to give {friend} something nice for {friend.his} birthday, but {hero.he} had no money.
GiftMake:
  <GiftPlan> <GiftWork>
GiftPlan:
  So {hero.he} took some {craft:craft.of} and made {look:look.a} {craft}.
  "I will make {craft:craft.a}," {hero.he} said. So {hero.he} got some {craft.of} and (paint|glue|string).
  {hero.He} found some {craft:craft.of} and thought of {look:look.a} {craft}.
GiftWork:
  {hero.He} worked (all day|all night|until evening|for three days).
  It was not easy, and {hero.he} had to start again (twice|three times|many times).
  When the {craft} was ready, {hero} put it in a (small|big|round|paper) box.
GiftEarn:
  So {hero.he} helped the {elder:elder} to {elder.job}, and {elder.he} gave {hero.him} <coins>. <GiftBuy>
  "I need help," said the {elder:elder}. So {hero} had to {elder.job}, and for this {hero.he} got <coins>. <GiftBuy>
coins:
  (two|three|four|five) coins
GiftBuy:
  With the money {hero.he} bought {look:look.a} {craft:craft}.
  {hero} ran to the market and bought {look:look.a} {craft:craft}.
GiftGive:
  On the birthday {hero} gave {friend} the {craft}.
  {friend} opened the present. "Oh, {craft.a}!" {friend.he} cried.
  "This is for you, {friend}," said {hero}, and gave {friend.him} the {craft}.
GiftEnd:
  {friend} was so happy that {friend.he} (danced|sang|jumped) for joy.
  "It is the best present of all," said {friend}. "Thank you, {hero}!"
  "Did you get it just for me?" asked {friend}. "Yes," said {hero}.
  {friend} kept the {craft} for many years.
"""

RACE = """
Race:
  <RaceBoast> <RacePlan> <RaceRun> <RaceWin> <RaceEnd>
RaceBoast:
  One day {friend} said to {hero}, "I am (faster|quicker) than you."
  "Nobody runs as fast as I do," {friend} said to {hero}.
  {friend} said to {hero} every day, "I am the fastest of all!"
RacePlan:
  "Then let us run from the {:start} to the {place:place}," said {hero}. The prize was {prize:food.a}.
  So they made a race from the {:start} to the {place:place}, and the {:elder} gave {prize:food.a} as the prize.
  "We will see," said {hero}. "Who is first at the {place:place} gets {prize:food.a}."
RaceRun:
  {friend} was soon far ahead, but then {friend.he} <stop>. {winner=hero} {loser=friend}
  At first {friend} was in front. But the sun was hot, and {friend.he} <stop>. {winner=hero} {loser=friend}
  {hero} was in front when {hero.he} saw {animal:animal.a} that {trouble:trouble}. {hero.He} stopped and \
    {trouble.cure}. {winner=friend} {loser=hero}
  {hero} ran well, but near the {place} {hero.he} fell over a (stone|root|branch). {winner=friend} {loser=hero}
stop:
  lay down and slept
  stopped to eat (berries|plums|nuts)
  stopped to talk to {:animal2.a}
  stopped to look at the (flowers|clouds|butterflies)
RaceWin:
  So {winner} was the first at the {place} and won the {prize}.
  {winner} came to the {place} first. "You won!" cried {loser}.
  And so {winner} won the race.
RaceEnd:
  But {winner} was kind and shared the {prize} with {loser}.
  {winner} took the {prize} and gave half to {loser}.
  {loser} shook hands with {winner}, and they ate the {prize} together.
"""

STORM = """
Storm:
  <StormBlow> <StormBreak> <StormPlan> <StormWork> <StormEnd>
StormBlow:
  One night a (great|terrible) {storm:storm} {storm.blew} over the land.
  One {:weather} evening a {storm:storm} came up and {storm.blew} until morning.
  In the (spring|autumn|winter) came a {storm:storm} that {storm.blew} for two days.
StormBreak:
  It broke the {broken:broken} of the {elder:elder}.
  When it was over, the {elder:elder} stood there sadly. "My {broken:broken} is broken," {elder.he} said.
  The {storm} did not hurt the {home}, but the {elder:elder}'s {broken:broken} was broken.
StormPlan:
  "I will help you," said {hero} to the {elder}.
  "We must help the {elder}," {hero} said to {friend}.
  {hero} felt sorry for the {elder} and fetched (tools|a hammer|a ladder|some nails).
StormWork:
  All day long they worked, and at last they had mended the {broken}.
  They worked until (noon|evening), and then the {broken} was as good as new.
  It was hard work, but {hero} did not stop until the {broken} was as good as new.
StormEnd:
  "Thank you," said the {elder}, and gave {hero} {elder.gift}.
  The {elder} was so glad that {elder.he} gave {hero.him} {elder.gift}.
  As thanks {hero} got {elder.gift} from the {elder}.
"""

RESCUE = """
Rescue:
  <RescueFind> <RescueHelp> <RescueLost> <RescueBack> <RescueEnd>
RescueFind:
  One {:weather} {:time} {hero} went to the {:place}. There {hero.he} saw {helper:animal.a} that {trouble:trouble}.
  One day {hero} heard {helper:animal.a} {helper.sound} in the {:place}. It {trouble:trouble}.
  In the {:place} {hero} found {helper:animal.a}. The poor {helper} {trouble:trouble}.
RescueHelp:
  "Do not be afraid," said {hero}, and {hero.he} {trouble.cure}.
  {hero} {trouble.cure} and gave the {helper} {helper.treat}.
  Very slowly {hero} {trouble.cure}. "Thank you," said the {helper}. "One day I will help you too."
RescueLost:
  Some (days|weeks) later {hero.he} lost {hero.his} way in the (fog|dark|snow|hills).
  In the winter {hero} went out in the snow and could not find the way home.
  One {:weather} evening {hero} could not find the way home. {hero.He} was cold and afraid.
RescueBack:
  Then {hero.he} heard something {helper.sound}. It was the {helper}!
  Then the {helper} came. "Follow me," it said.
  Who {helper.move} up to {hero.him} then? It was the {helper}.
RescueEnd:
  The {helper} {helper.move} ahead and showed {hero.him} the way to the {home}.
  Together they found the {home}, and there the {helper} got {helper.treat}.
  "You helped me, and now I help you," said the {helper}. Soon {hero} was safe at home.
"""

WISH = """
Wish:
  <WishWant> <WishMeet> <WishGive> <WishGrant> <WishEnd>
WishWant:
  {hero} had one wish: {hero.he} wanted {look:look.a} {thing:thing}.
  "I wish I had {look:look.a} {thing:thing}," {hero} often said.
  {hero} wanted {look:look.a} {thing:thing}, so that {hero.he} could {thing.use}.
WishMeet:
  One {:weather} {:time} {hero.he} met {giver:giver.a} in the {:place}. The {giver} was {need:need}.
  In the {:place} {hero.he} met {giver:giver.a}. "I am so {need:need}," said the {giver}.
  One day {giver:giver.a} came to the {home}. "I am {need:need}," said the {giver}. "Please help me."
WishGive:
  So {hero} gave the {giver} {hero.his} own {need.gift}.
  "You can have my {need.gift}," said {hero}.
  {hero} had only a little, but {hero.he} shared {hero.his} {need.gift} with the {giver}.
WishGrant:
  "You have a good heart," said the {giver}. "What do you wish for?" "{look.A} {thing}," said {hero}.
  The {giver} smiled. "Because you helped me, you may have one wish."
  "Thank you, little {hero.kind}," said the {giver}, and was gone.
WishEnd:
  The next morning the {look} {thing} lay (on the table|beside {hero.his} bed|at the door).
  When {hero.he} came home, {hero.he} found the {look} {thing} (on the table|on {hero.his} bed|at the door).
  There was a flash of light, and in {hero.his} hands {hero} held the {look} {thing}.
"""

PLOTS = (LOST, GIFT, RACE, STORM, RESCUE, WISH, SWAP, SOUP, SECRET, SEED, VISIT, THIEF, HIDE, BRAVE)
STORIES = Grammar(FRAME + "".join(PLOTS), LEXICON)
