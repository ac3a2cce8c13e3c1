"""How every story begins and ends. Format: see `notation`."""

FRAME = """
Story:
  <Opening> <Friend> <Plot> <Ending>
Opening:
  Once upon a time there was {:trait.a} {hero:folk.kind} named {hero}, who lived in {home:home.a} <near>.
  Once there lived {:trait.a} {hero:folk.kind} called {hero}. {hero.His} home was {home:home.a} <near>.
  Long ago, in {home:home.a} <near>, lived {:trait.a} {hero:folk.kind} named {hero}.
  {hero:folk} was {:trait.a} {hero.kind} who lived in {home:home.a} <near>.
  In {home:home.a} <near> lived {:trait.a} {hero:folk.kind} called {hero}, who liked to {:hobby}.
  This is the story of {hero:folk}, {:trait.a} {hero.kind} who lived in {home:home.a} <near>.
  There was once a {hero:folk.kind} named {hero}, who was always {:trait}. {hero.His} home was {home:home.a} <near>.
  {hero:folk} lived in {home:home.a}. {hero.He} was {:trait.a} {hero.kind} and liked to {:hobby}.
  Everybody liked {hero:folk}, the {:trait} {hero.kind} from the {home:home} <near>.
  "I like to {:hobby}," {hero:folk} always said. {hero.He} was {:trait.a} {hero.kind} and lived in {home:home.a}.
Friend:
  {hero.His} best friend was {friend:folk2}.
  {hero} had a good friend named {friend:folk2}.
  {hero} and {hero.his} friend {friend:folk2} were always together.
  Every day {hero.he} met {hero.his} friend {friend:folk2}.
  {hero.His} friend {friend:folk2} lived (next door|not far away|in the same street).
  Nobody knew {hero} as well as {hero.his} friend {friend:folk2}.
near:
  by the (sea|river|lake)
  near the (woods|hills|mountains)
  on a (green|high|windy) hill
  at the edge of the (village|woods)
Plot:
  <Lost>
  <Gift>
  <Race>
  <Storm>
  <Rescue>
  <Wish>
  <Swap>
  <Soup>
  <Secret>
  <Seed>
  <Visit>
  <Thief>
  <Hide>
  <Brave>
Ending:
  And {hero} and {friend} lived happily ever after.
  That night {hero} slept (very|) well in the {home}.
  {hero} and {friend} never forgot that day.
  "What a (lovely|wonderful|good) day!" said {hero} to {friend}, and soon {hero.he} was asleep.
  And if you ask {hero} about it, {hero.he} will smile.
  And {hero} still lives in the {home}.
  Then {hero} went back to the {home}.
  Everybody was happy, and {hero} and {friend} most of all.
  {hero} and {friend} were friends for ever.
  Then {hero} went home to {:hobby}.
  And that is the end of the story of {hero}, the {hero.kind} from the {home}.
  And do you know what {hero} did then? {hero.He} went to {:hobby}, of course.
"""
