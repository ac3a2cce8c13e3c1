"""The words of the stories. Format: see `lexicon`."""

from llm_gen.story.lexicon import parse_lexicon

TABLES = """

[folk kind he him his]
Anna, Lily, Mia, Rosa, Nora, Ella, Ivy, Clara, Ruth, Maya | girl | she | her | her
Tom, Ben, Sam, Leo, Max, Finn, Jack, Oscar, Hugo, Noah | boy | he | him | his
Rusty | fox | he | him | his
Amber | fox | she | her | her
Bruno | bear | he | him | his
Olga | bear | she | her | her
Pip | mouse | he | him | his
Mimi | mouse | she | her | her
Basil | rabbit | he | him | his
Clover | rabbit | she | her | her

[trait]
kind, merry, clever, cheerful, curious, shy, gentle, lively, careful, patient, dreamy, honest
funny, quiet, busy, stubborn

[hobby]
sing, dance, paint, read, climb trees, tell stories, watch the clouds, bake bread
count the stars, collect stones

[home]
by the sea, by the river, by the lake, near the woods, near the hills, near the mountains
on a green hill, on a windy hill, at the edge of the forest, beside the old mill

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
whistle | blow it
basket | fill it with nuts; carry it
ring | wear it; look at it
cup | drink milk from it
ribbon | wear it
umbrella | carry it in the rain
clock | listen to it
pencil | draw with it; write with it
puppet | make it dance; play with it
blanket | sleep under it
spoon | eat soup with it
mirror | look into it
shell | listen to it
feather | write with it

[craft of]
kite, lantern | paper
scarf, blanket | wool
puppet | wool; wood
flute, whistle | wood
boat | wood; paper
drum, spoon | wood
basket | straw
hat | straw; wool
cup, bell | clay
crown | flowers; paper
necklace | shells; flowers

[place at spot]
forest | in the forest | under a tall tree; behind a fallen log; in a heap of leaves
garden | in the garden | under the roses; behind the shed; between the cabbages
market | at the market | under a table; behind some boxes; next to the fountain
river | by the river | among the reeds; behind a big stone; on the wet sand
beach | on the beach | in the warm sand; behind a rock; next to an old boat
hill | on the hill | under a bush; behind a grey stone; beside the path
meadow | in the meadow | among the daisies; under a hedge; in the tall grass
park | in the park | under a bench; beside the fountain; in the tall grass
farm | at the farm | in the hay; behind the cart; beside the gate
mill | at the mill | behind the wheel; under a sack of flour; on the stairs
lake | by the lake | among the reeds; under the bridge; on a flat stone
orchard | in the orchard | under an apple tree; in a basket of pears; behind a ladder
harbour | at the harbour | under a net; behind a barrel; in an old boat
castle | at the castle | under the bridge; behind the wall; on the stairs

[animal move sound treat]
dog | ran | bark | a bone
cat | ran | meow | a dish of milk
owl | flew | hoot | some seeds
duck | flew | quack | some bread
goat | ran | bleat | some hay
crow | flew | croak | some bread
frog | hopped | croak | a fat fly
squirrel | ran | squeak | a nut
donkey | ran | bray | a carrot
pony | ran | neigh | an apple
lamb | ran | bleat | some hay
swan | flew | hiss | some bread
sparrow | flew | chirp | some seeds
otter | ran | squeak | a fish
goose | flew | honk | some seeds
beaver | ran | squeak | a carrot

[food a]
bread | some bread
soup | some soup
cake | a cake
honey | some honey
cheese | some cheese
pie | an apple pie
jam | some jam
porridge | some porridge
nuts | some nuts
pears | some pears
plums | some plums
berries | some berries

[vegetable]
carrots, potatoes, onions, beans, peas, mushrooms, leeks, tomatoes, turnips, herbs

[elder he job gift]
baker | he | bake the bread; carry the flour | a warm loaf
miller | he | carry the sacks; sweep the mill | a sack of flour
farmer | she | feed the hens; milk the cows | a basket of eggs
fisherman | he | mend the nets; clean the boat | a big fish
shepherd | she | count the sheep; watch the sheep | a ball of wool
gardener | she | water the roses; pick the apples | a bunch of flowers
tailor | he | fold the shirts; sweep the floor | a new coat
teacher | she | clean the desks; carry the books | a book
cook | he | peel the potatoes; wash the plates | a bowl of soup
weaver | she | sort the wool; carry the wool | a soft rug

[broken repair]
roof | put the tiles back on the roof; closed the hole in the roof
fence | nailed the boards to the fence; set up the fence
gate | hung the gate again; mended the gate
window | put new glass in the window; mended the window
wall | put the stones back on the wall; built up the wall
door | hung the door again; mended the door
cart | put a new wheel on the cart; mended the cart
chimney | put the bricks back on the chimney; built up the chimney

[storm blew]
storm | raged
wind | howled
gale | roared
hurricane | raged

[trouble cure]
was caught in a net | cut the net
had a thorn in its foot | pulled out the thorn
had fallen into a hole | lifted it out
was stuck in the mud | pulled it out
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
a stair under the mill | stair | there was a little room; there was a dark room
a boat among the reeds | boat | there were two oars; there was a soft blanket

[plant tall fruit]
sunflower | taller than the house; as bright as the sun | seeds
pumpkin | bigger than a cart; as round as the moon | soup
apple tree | taller than the house; full of red apples | apples
rose bush | full of red roses; as high as the fence | roses
bean plant | taller than the house; as high as the roof | beans
cabbage | bigger than a barrel; as round as the moon | soup

[relative he him]
grandmother | she | her
grandfather | he | him
aunt | she | her
uncle | he | him

[cake]
cake, pie, tart, bun, pudding, pancake

[hideout]
behind a wall, under a cart, in a barrel, behind a tree, under a bush, behind a hedge
in a big basket, between the flowers

[fear face]
the dark | go out into the dark; walk through the dark
deep water | cross the deep water; jump into the deep water
thunder | go out into the thunder; run through the thunder
high places | climb up the high rocks; walk over the high bridge
the forest | go into the forest; run through the forest

[weather]
sunny, windy, cold, warm, rainy, foggy, snowy, cloudy, bright, frosty

[time]
morning, afternoon, evening, day
"""

LEXICON = parse_lexicon(TABLES)
