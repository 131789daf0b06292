"""How people ask: our own frames around what an operation does.

Frames hold words that say nothing of the matter. Whole sentences of chatter (trips, birthdays,
deadlines) did not help: their words are what other requests are about. Frames for training and
for the development set are apart.
"""

import random

# `{x}` is what is wanted, as after "to": "list the open orders".
REQUESTS = """
{x}
please {x}
can you {x}?
could you {x}?
could you please {x} for me?
can you {x} for me?
would you {x}?
would you be able to {x}?
will you {x} when you have a moment?
I need to {x}
I need you to {x}
I want to {x}
I want you to {x}
I'd like to {x}
I'd like you to {x}
I would like to {x}, please
I have to {x}
I must {x} today
I'm trying to {x}
I am trying to {x} but I don't know how
I was hoping you could {x}
I was wondering if you could {x}
I wonder whether there is a way to {x}
help me {x}
please help me to {x}
help me out: {x}
how do I {x}?
how can I {x}?
how would I go about this: {x}?
how would one {x}?
what's the best way to {x}?
what is the easiest way to {x}?
is there a way to {x}?
is it possible to {x}?
is there a tool to {x}?
is there anything here that can {x}?
do you know how to {x}?
do you have something that can {x}?
are you able to {x}?
show me how to {x}
let's {x}
let us {x} now
let me {x}
go ahead and {x}
go and {x} for me
just {x}
quickly {x}
try to {x}
make sure to {x}
be so kind as to {x}
kindly {x}
kindly help me {x}
hey, {x}
hi, can you {x}
hello! I need to {x}
ok now {x}
next, {x}
then {x}
also {x}
and finally {x}
first {x}
my task is to {x}
my goal is to {x}
the goal is to {x}
the task: {x}
todo: {x}
your job is to {x}
we need to {x}
we want to {x}
we have to {x}
we'd like to {x}
we are trying to {x}
we're looking to {x}
we're planning to {x}
our team wants to {x}
our team has to {x}
my boss asked me to {x}
my manager wants me to {x}
my colleague needs to {x}
my client wants us to {x}
my friend would like to {x}
my sister asked how to {x}
a customer asked us to {x}
someone has to {x}
I've been asked to {x}
I've been told to {x}
I am supposed to {x}
I'm about to {x}
I'm going to {x}
I'm planning to {x}
I'm looking to {x}
I'm looking for a way to {x}
I'm looking for something that will {x}
I'm interested in how to {x}
I'd love to {x}
I'd be grateful if you could {x}
I'd appreciate it if you would {x}
it would be great if you could {x}
it would help a lot to {x}
it's time to {x}
it is important that you {x}
give me a hand: I want to {x}
give me the result when you {x}
use whatever you have to {x}
use the right tool to {x}
find a tool to {x}
find out how to {x}
figure out how to {x}
tell me how to {x}
tell me if you can {x}
explain how to {x}
write what I need in order to {x}
assist me: {x}
assist me to {x}
assist our team to {x}
I require help to {x}
I require you to {x}
may I ask you to {x}?
might you {x}?
shall we {x}?
should I {x} now?
can I {x}?
can I {x} from here?
can I get you to {x}?
can we {x}?
can we {x} before the meeting?
can someone {x}?
can the assistant {x}?
could I ask you to {x}?
could we {x}?
could somebody {x}?
would it be possible to {x}?
would you mind if I asked you to {x}?
any chance you could {x}?
any idea how to {x}?
what do I need to {x}?
what should I use to {x}?
what would it take to {x}?
which tool can {x}?
which of these lets me {x}?
where can I {x}?
where do I go to {x}?
who can {x}?
why not {x}?
want to {x}
need to {x}
needed: {x}
request: {x}
question: how to {x}?
quick question, how do I {x}?
urgent: {x}
asap: {x}
reminder to {x}
don't forget to {x}
in order to go on I have to {x}
to finish this I need to {x}
before anything else, {x}
after that, {x}
once that is done, {x}
if you can, {x}
if possible, {x}
when you are ready, {x}
now I would like you to {x}
today I want to {x}
this time, {x}
again, {x}
at this point we should {x}
for this project I need to {x}
for my homework I have to {x}
for work I need to {x}
for the report, {x}
as part of the plan, {x}
as a next step, {x}
as soon as you can, {x}
you need to {x}
you should {x}
you can {x}, right?
""".strip().split("\n")

# Never used in training: they frame the requests of the development set.
HELD_OUT_REQUESTS = """
what I'm after is to {x}
mind to {x} for us?
I could use some support, I ought to {x}
our department intends to {x}
as an assistant, {x}
suppose I wish to {x}, what then?
the customer insists that we {x}
it'd be lovely if someone managed to {x}
I've decided to {x}
get ready to {x}
perhaps you are the one who can {x}
whenever convenient, {x}
""".strip().split("\n")

HELD_OUT_OPENINGS = """
My flatmate is ill and I took over.
Greetings from the third floor.
The board wants an update after lunch.
Since the release we hear complaints.
I forgot how this goes.
We open a new branch in Lisbon next month.
""".strip().split("\n")


def infinitive(sentence: str) -> str:
    """`Lists the open orders.` as after "to": `list the open orders`."""
    sentence = sentence.strip().rstrip(".")
    first, _, rest = sentence.partition(" ")
    if first[1:].islower() or not first[1:]:
        first = first.lower()
        if first.endswith("ies") and len(first) > 4:
            first = first[:-3] + "y"
        elif first.endswith(("ches", "shes", "sses", "xes")):
            first = first[:-2]
        elif first.endswith("s") and not first.endswith(("ss", "us", "is")):
            first = first[:-1]
    return f"{first} {rest}".strip()


def sometimes(wanted: str, draw: random.Random) -> str:
    """The request in a training frame, every other time."""
    return draw.choice(REQUESTS).replace("{x}", wanted) if draw.random() < 0.5 else wanted


def framed_held_out(wanted: str, draw: random.Random) -> str:
    text = draw.choice(HELD_OUT_REQUESTS).replace("{x}", wanted)
    return f"{draw.choice(HELD_OUT_OPENINGS)} {text}" if draw.random() < 0.5 else text
