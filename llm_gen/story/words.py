"""The words of the stories. Format: see `lexicon`."""

from llm_gen.story.lexicon import parse_lexicon

TABLES = """
[folk kind he him his]
Anna, Lily, Mia, Rosa, Nora, Ella, Ivy, Clara | girl | she | her | her
Tom, Ben, Sam, Leo, Max, Finn, Jack, Oscar | boy | he | him | his
Rusty | fox | he | him | his
Amber | fox | she | her | her
Bruno | bear | he | him | his
Olga | bear | she | her | her
Pip | mouse | he | him | his
Mimi | mouse | she | her | her
Basil | rabbit | he | him | his
Clover | rabbit | she | her | her

[folk2 kind he him his]
Emma, Lucy, Greta, Maya, Ruth, Vera, Julia | girl | she | her | her
Peter, Paul, Hugo, David, Felix, Simon, Noah | boy | he | him | his

[folk3 kind he him his]
Kate, Dora, Iris | girl | she | her | her
Otto, Lukas, Victor | boy | he | him | his

[trait]
kind, merry, clever, cheerful, curious, shy, gentle, lively, careful, patient, dreamy, honest
funny, quiet, busy, stubborn

[hobby]
sing, dance, paint, read, climb trees, tell stories, watch the clouds, bake bread
count the stars, collect stones

[home]
cottage, lighthouse, windmill, tower, cabin, tent, wagon, palace, inn, bakery, attic, tree house

[look]
red, blue, green, yellow, white, purple, orange, golden, silver, striped, shiny, old, tiny
pretty

[thing use]
ball | throw it high; play with it
kite | fly it on windy days; fly it
drum | play it loudly
flute | play it softly; play a song on it
book | read it in bed; read it every evening
hat | wear it on sunny days; wear it
scarf | wear it on cold days; wear it
bell | ring it in the morning; ring it
boat | sail it on the pond; play with it
lantern | carry it after dark
ring | wear it; look at it
umbrella | carry it in the rain
puppet | make it dance; play with it
ribbon | wear it
whistle | blow it
mirror | look into it

[thing2 use]
basket | fill it with nuts; carry it
cup | drink milk from it
clock | listen to it
pencil | draw with it; write with it
blanket | sleep under it
spoon | eat soup with it
trumpet | play it loudly
sled | ride on it

[thing3 use]
shell | listen to it
feather | write with it
candle | look at it
comb | look at it
rope | climb with it
bucket | carry it

[craft of]
kite, lantern, crown | paper
scarf, blanket, puppet | wool
flute, whistle, boat, drum, spoon | wood
basket, hat | straw
cup, bell, bowl | clay
necklace, bracelet | shells

[place spot]
forest | under a tall tree; behind a fallen log; in a heap of leaves
garden | under the roses; behind the shed; between the cabbages
market | under a table; behind some boxes; next to the fountain
meadow | among the daisies; under a hedge; in the tall grass
park | under a bench; behind the swings; beside the pond
orchard | under an apple tree; behind a ladder; between two baskets
valley | behind a big stone; beside the stream; under a bush
barn | in the hay; behind a cart; under a bucket
castle | behind a wall; on the stairs; in a dark corner
mill | behind the wheel; under a sack of flour; beside the door
harbour | under a net; behind a barrel; in an old boat
field | in the corn; beside the scarecrow; on a heap of straw

[start]
bridge, church, well, gate, fountain, oak

[animal move sound treat]
dog | ran | bark | a bone
cat | ran | meow | a dish of milk
goat | ran | bleat | some hay
frog | hopped | croak | a fat fly
squirrel | ran | squeak | a nut
donkey | ran | bray | a carrot
pony | ran | neigh | an apple
otter | ran | squeak | a fish

[animal2 move sound treat]
owl | flew | hoot | some seeds
duck | flew | quack | some bread
crow | flew | croak | some bread
swan | flew | hiss | some bread
sparrow | flew | chirp | some seeds
goose | flew | honk | some seeds

[food a]
bread | some bread
soup | some soup
cake | a cake
porridge | some porridge
pie | an apple pie
pudding | a pudding

[food2 a]
honey | some honey
cheese | some cheese
jam | some jam
nuts | some nuts
pears | some pears
plums | some plums
berries | some berries

[vegetable]
carrots, potatoes, onions, turnips

[vegetable2]
beans, peas, leeks, herbs

[vegetable3]
mushrooms, tomatoes, cabbages, pumpkins

[elder he job gift]
baker | he | bake the bread; carry the flour | a warm loaf
miller | he | carry the sacks; sweep the mill | a sack of flour
farmer | she | feed the hens; milk the cows | a basket of eggs
fisherman | he | mend the nets; clean the boat | a big fish
shepherd | she | count the sheep; watch the sheep | a ball of wool
gardener | she | water the roses; pick the apples | a bunch of flowers
tailor | he | fold the shirts; sweep the floor | a new coat
teacher | she | clean the desks; carry the books | a thick book
cook | he | peel the potatoes; wash the plates | a bowl of soup
weaver | she | sort the wool; carry the wool | a soft rug

[broken]
roof, fence, gate, window, wall, door, cart, chimney

[storm blew]
storm | raged
wind | howled
gale | roared

[trouble cure]
was caught in a net | cut the net
had a thorn in its foot | pulled out the thorn
had fallen into a hole | lifted it out
was stuck in the mud | pulled it free
was tied to a post | untied the rope
had hurt its leg | washed the leg

[giver]
fairy, wizard, giant, witch, dwarf, queen, king, stranger

[need gift]
hungry | bread; soup; cheese
thirsty | water; milk; tea
cold | coat; scarf; cloak
tired | chair; pillow; blanket

[secret short inside]
a cave behind the waterfall | cave | it was cool and quiet; the walls shone
a chest under the bridge | chest | there were old coins; there was a map
a door in the garden wall | door | there was a rose garden; there was a green pond
a hut in the forest | hut | there was a warm stove; there were two chairs
a nest in the reeds | nest | there were three eggs; there were five blue eggs
a tunnel under the mill | tunnel | there was a little room; there was a small lamp
a raft among the reeds | raft | there were two oars; there was a soft blanket

[plant tall fruit]
sunflower | taller than the house; as bright as the sun | seeds
pumpkin | bigger than a cart; as round as the moon | soup
apple tree | taller than the house; full of red apples | apples
rose bush | full of red roses; as high as the fence | roses
bean plant | taller than the house; as high as the roof | beans

[relative he him]
grandmother, aunt | she | her
grandfather, uncle | he | him

[cake]
cake, pie, tart, bun, pudding, pancake

[cover]
wall, tree, hedge, cart, bush, barrel, rock, haystack

[room]
kitchen, cellar, stable

[room2]
pantry, workshop, henhouse

[fear face]
the dark | go out into the dark; walk through the dark
deep water | cross the deep water; jump into the deep water
thunder | go out into the thunder; run through the thunder
high places | climb up the high rocks; walk over the high bridge

[weather]
sunny, windy, cold, warm, rainy, foggy, snowy, cloudy, bright, frosty

[time]
morning, afternoon, evening, day
"""

LEXICON = parse_lexicon(TABLES)
