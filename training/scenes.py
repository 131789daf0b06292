"""Everyday requests and the tools that would serve them, written by us: what API documents never say.

A scene is one line: what a tool does, then `|`, then ways to ask for it that share few words with it.
`{t}` stands for one of the things behind the last `@`.
"""

import random
from typing import Iterator

_SCENES = """
Current conditions and forecasts for any location | will it rain in {t} tomorrow? | do I need an umbrella in {t}? | how hot is it in {t}? | is it going to be sunny this weekend in {t}? | temperature in {t} right now @ Paris, my city, the mountains, Chicago
Search flights and compare air fares | find a cheap plane ticket to {t} | when is the next departure to {t}? | fly to {t} next month | what does it cost to travel to {t} by air? @ London, Tokyo, the Caribbean, Denver
Find and book hotels and other lodging | where can I stay in {t}? | a room for two nights in {t} | somewhere to sleep near {t} | accommodation with breakfast in {t} @ Rome, the airport, the beach, Prague
Plan trips and build itineraries with sights and activities | what should I see in {t}? | three days in {t}, what to do? | make a schedule for our vacation in {t} | things to do with kids in {t} @ Lisbon, Greece, New York, Thailand
Find restaurants, read reviews and reserve tables | where can I eat {t} tonight? | a good place for dinner with {t} | book a table for four at a {t} place | who delivers {t} here? @ sushi, pizza, vegan food, Indian food
Recipe search with ingredients and cooking steps | how do I cook {t}? | what can I make with {t} in my fridge? | a quick dinner using {t} | something sweet to bake with {t} @ chicken, tomatoes, rice, eggs and flour
Nutrition facts, calories and diet plans | how much protein is in {t}? | is {t} healthy? | plan my meals so that I lose weight, no {t} | how fattening is {t}? @ an avocado, bread, yoghurt, peanut butter
Wine and beverage recommendations and pairings | what should I drink with {t}? | a cocktail made of {t} | which bottle fits {t}? @ steak, fish, gin, cheese
Workout plans and fitness tracking | exercises to strengthen {t} | how do I get in shape? | how many steps did I walk? | a training schedule for {t} @ my back, a marathon, beginners, my legs
Medical information about symptoms, drugs and conditions | I have {t}, what could it be? | what helps against {t}? | side effects of pills for {t} | should I see a doctor about {t}? @ a headache, fever, a sore throat, diabetes
Find doctors, hospitals and clinics | a dentist near {t} | who can treat my knee in {t}? | where is the closest emergency room in {t}? @ Boston, my home, downtown, Austin
Mental wellbeing, meditation and sleep support | I feel anxious about {t} | help me calm down | I can't sleep because of {t} | something relaxing to listen to @ work, my exam, money, the news
Stock quotes, market data and company fundamentals | how are {t} shares doing? | should I put money into {t}? | earnings of {t} last quarter | dividend history of {t} @ Apple, Tesla, a bank, tech firms
Cryptocurrency prices, wallets and blockchain data | what's {t} worth now? | how much {t} does this address hold? | trend of {t} this week | gas fees on {t} @ Bitcoin, Ethereum, my token, Solana
Convert currencies with live exchange rates | how many euros are {t}? | change {t} to yen | what do I get for {t} abroad? @ 100 dollars, 50 pounds, my rupees
Personal finance, budgets and loans | can I afford a house with {t}? | monthly payment of a mortgage over {t} | where does my money go? | how do I save {t}? @ 300000 dollars, my salary, 20 years
Tax calculation and filing information | how much do I owe the government for {t}? | what can I deduct for {t}? | VAT on {t} @ my home office, a car, 2022, freelance work
Insurance quotes and comparison | cover for {t} | how much would it cost to protect {t} against accidents? | policy for {t} @ my car, my dog, a trip abroad, our house
Product search and price comparison across online stores | where is {t} cheapest? | I want to buy {t} | good {t} under 100 dollars | which {t} would you recommend? @ a laptop, running shoes, headphones, a coffee machine
Coupons, discounts and promo codes | is there a deal on {t}? | save money on {t} | any vouchers for {t}? @ shoes, groceries, electronics, my order
Gift ideas for any occasion | what do I give {t} for Christmas? | a present for {t} | surprise {t} on the birthday @ my mother, a colleague, a teenager, my husband
Fashion advice, outfits and clothing search | what should I wear to {t}? | does this jacket go with {t}? | stylish clothes for {t} @ a wedding, an interview, jeans, the office
Track parcels and shipments of all carriers | where is my package {t}? | has {t} been delivered? | when does my order {t} arrive? @ from China, number 12345, sent last week
Real estate listings, rents and home values | apartments in {t} | how much is a house in {t}? | places to rent with two bedrooms in {t} | what's my home in {t} worth? @ Brooklyn, Berlin, the suburbs, Miami
Job search and vacancies | who is hiring {t}? | open positions for {t} | I'm a {t} and look for work | how much does a {t} earn? @ nurse, software engineer, teacher, driver
Resume and cover letter writing | improve my CV for {t} | a letter to apply as {t} | prepare me for an interview as {t} @ a designer, an accountant, an intern
Used and new car listings and vehicle data | a second-hand {t} for less than 15000 | what is my {t} worth? | which engine is in the {t}? | decode the VIN of a {t} @ Toyota, truck, electric vehicle, BMW
Routes, directions, maps and traffic | how do I get to {t}? | how far is it to {t}? | fastest way to {t} avoiding tolls | is there a jam on the way to {t}? @ the station, San Francisco, work, the museum
Trains, buses and public transport timetables | when does the next bus to {t} leave? | connection to {t} by rail | delays on the line to {t} @ the centre, Munich, Oxford, the airport
Charging stations, parking and fuel prices | where can I charge my car near {t}? | leave my vehicle near {t} | cheapest gas in {t} @ the mall, Hamburg, the stadium
Events, concerts and ticket sales | what's on in {t} tonight? | seats for {t} | is {t} playing near me? @ Dublin, a musical, my favourite band, the opera
Sports scores, fixtures and statistics | who won {t}? | when does {t} play next? | standings of {t} | how many goals were scored in {t}? @ the match last night, the league, Barcelona, the Lakers
Movies and TV show information and recommendations | what should I watch, something like {t}? | who acted in {t}? | is {t} worth seeing? | where can I stream {t}? @ a thriller, Star Wars, a comedy series, Titanic
Music search, playlists, lyrics and audio features | play something like {t} | who sings {t}? | words of the song {t} | put together songs for {t} @ jazz, a party, Beatles, running
Podcast discovery, episodes and transcripts | shows to listen to about {t} | what did they say about {t} in the last episode? | an audio programme on {t} @ history, startups, crime
Book search, summaries and recommendations | what should I read about {t}? | novels like {t} | who wrote {t}? | sum up the book about {t} @ dragons, war, leadership, Harry Potter
Games and entertainment: puzzles, chess, trivia | let's play {t} | quiz me about {t} | what's the best move in {t}? | I'm bored, something fun with {t} @ chess, words, history, tic tac toe
Role playing adventures and storytelling | tell my kids a bedtime tale about {t} | make up a story with {t} | be the game master in a world of {t} @ pirates, a princess, robots, magic
Jokes, memes and funny content | make me laugh about {t} | a funny picture of {t} | something humorous on {t} @ cats, lawyers, Mondays
Horoscope, tarot and astrology | what do the stars say about {t}? | my zodiac sign and {t} | draw cards about {t} @ love, my career, today, Gemini
News articles and headlines from many sources | what happened in {t} today? | latest on {t} | what do the papers say about {t}? | any updates regarding {t}? @ politics, Ukraine, the economy, the election
Web search engine results | look up {t} online | google {t} for me | what does the internet know about {t}? | recent information on {t} @ quantum computers, this person, solar panels
Read web pages and extract their content | what does the site {t} say? | summarize this link {t} | get the text of {t} | scrape {t} @ example.com, this article, the product page
Encyclopedia articles and general facts | who was {t}? | explain {t} to me | background of {t} | facts about {t} @ Napoleon, photosynthesis, Iceland, the Roman empire
Scientific paper search and literature review | studies on {t} | what has been published about {t}? | cite sources for {t} | academic work about {t} @ cancer, climate change, transformers, sleep
Patents, trademarks and intellectual property | has anyone invented {t} already? | is the brand {t} taken? | protect my idea of {t} @ a folding bike, a logo, an algorithm
Legal research, court cases and contracts | is {t} allowed? | my landlord says {t}, what are my rights? | draft an agreement on {t} | what does the law say about {t}? @ recording a call, subletting, a non-disclosure, copyright
Government data, legislation and public records | what did congress decide on {t}? | census figures about {t} | who voted for {t}? @ immigration, housing, the budget
Math solver, computation and equations | solve {t} | what is {t}? | integrate {t} step by step | plot {t} @ x squared plus two, 17 percent of 340, a triangle, the derivative
Unit conversion and measurement | how many feet are {t}? | turn {t} into kilograms | {t} in metric @ two miles, 80 pounds, a gallon
Dictionary, synonyms, grammar and spelling | what does {t} mean? | another word for {t} | is {t} correct English? | how do you spell {t}? @ ubiquitous, happy, fewer people, necessary
Translate text between languages | how do you say {t} in Spanish? | put {t} into German | what does {t} mean in English? | I don't understand this {t} letter @ good night, Japanese, French, this sentence
Language learning and conversation practice | teach me some {t} | practise {t} with me | how do I pronounce {t}? @ Italian, Korean, verbs, Arabic
Tutoring, courses and homework support | I don't get {t}, explain it simply | where can I learn {t}? | an online class on {t} | prepare me for the exam in {t} @ algebra, chemistry, Python, drawing
Flashcards, quizzes and study notes | help me memorize {t} | test what I know about {t} | turn {t} into questions @ vocabulary, my lecture, anatomy
University and school search | where should I study {t}? | which college is best for {t}? | admission to {t} programmes @ medicine, law, engineering
Generate images from text and edit pictures | draw {t} | a picture of {t} for my wall | make a logo with {t} | paint {t} in oil style @ a castle, my cat, a sunset, a fox
Remove backgrounds, resize, crop and enhance photos | cut out {t} from the picture | make the photo of {t} sharper | shrink {t} to fit an email @ the person, a portrait, my scan
Search stock photos, icons, GIFs and illustrations | a free picture of {t} for my slides | show an animated {t} | symbols for {t} @ a forest, teamwork, a rocket
Create videos, edit clips and add subtitles | make a short film about {t} | cut the clip of {t} | captions for {t} @ our product, my holiday, a lesson
Video transcripts, summaries and chat with videos | what is said in the YouTube clip about {t}? | give me the key points of this {t} | don't have time to watch {t} @ lecture, documentary, interview
Text to speech and voice generation | read {t} aloud | a voice that speaks {t} | turn {t} into audio @ my essay, this page, a greeting
Speech recognition and transcription | write down what is said in {t} | text of the recording of {t} | minutes of {t} from the audio @ the meeting, my voice memo, an interview
Read, summarize and question PDF and other documents | what does this {t} say about payments? | the main points of the {t} | find a passage in my {t} | shorten this {t} @ contract, report, thesis, manual
Convert, merge and compress files | make a {t} out of this | join two {t} files | save it as {t} | my {t} is too large @ PDF, Word document, JPG, zip
OCR: extract text from images and scans | what is written on {t}? | get the words out of {t} | type up {t} @ this receipt, a photo of a sign, a scanned letter
Charts, graphs and data visualization | show {t} as bars | a pie of {t} | how did {t} develop? draw a curve | picture these numbers about {t} @ sales by month, votes, temperatures
Diagrams, flow charts and mind maps | sketch how {t} works | boxes and arrows for {t} | organise my thoughts on {t} visually @ the login process, our architecture, a project
Presentations and slide decks | slides about {t} | I have to talk about {t} on Friday, build something to show | a pitch for {t} @ our results, a startup, biology
Spreadsheets: read, write and formulas | add up the column of {t} | put {t} into a table | a formula for {t} | sort the rows by {t} @ expenses, names, dates
Query databases in natural language and SQL | how many {t} are stored? | a select statement for {t} | which {t} bought most? | look into the tables of {t} @ customers, orders, users
Analyse data sets and run statistics | what drives {t} in my csv? | correlation of {t} | find outliers in {t} | forecast {t} for next year @ revenue, churn, prices
Run code in a sandbox | execute this {t} | what does the {t} script print? | try out my {t} program @ Python, JavaScript, bash
Browse, search and change source code repositories | who changed {t} last? | open a pull request for {t} | what does the function {t} do? | bugs reported about {t} @ the parser, login, the README
Deploy applications, servers and domains | put my {t} online | is the name {t} still free? | restart {t} | host {t} cheaply @ website, shop, api, bot
Build websites and landing pages | a homepage for {t} | publish a page about {t} without coding | design my site for {t} @ my bakery, a wedding, our club
Search engine optimization and keyword analysis | how do I rank higher for {t}? | who links to {t}? | traffic of {t} | terms people look for about {t} @ my blog, shoes, competitors
Social media posts, scheduling and analytics | write a tweet on {t} | caption for a photo of {t} | post about {t} on Monday | hashtags for {t} @ our launch, coffee, travel
Advertising and marketing campaigns | promote {t} | an ad for {t} | how did our campaign for {t} perform? | slogans for {t} @ a new app, sneakers, the sale
Email: read, search, draft and send | what did Anna write about {t}? | reply to the message on {t} | any unread mail regarding {t}? | write politely to a client about {t} @ the invoice, Friday, the delay
Chat and messaging channels | tell the team about {t} | what was said in the channel on {t}? | text my friend that {t} @ the release, lunch, I'm late
Calendar, meetings and appointments | am I free on {t}? | set up a call on {t} | move my meeting to {t} | what's planned for {t}? @ Tuesday, next week, 3 pm
Tasks, reminders and to-do lists | remind me of {t} | what do I still have to do for {t}? | note that I must handle {t} | cross off {t} @ the bill, groceries, the project
Notes and personal knowledge base | save this thought on {t} | what did I write down about {t}? | remember {t} for later | look in my notebook for {t} @ the recipe, my ideas, passwords policy
Project management: issues, boards and sprints | file a ticket about {t} | who works on {t}? | what blocks {t}? | move {t} to done @ the crash, the redesign, story 12
Customer relations: contacts, leads and deals | add {t} to our clients | when did we last talk to {t}? | how big is the deal with {t}? @ Acme, Mrs Miller, the new lead
Invoices, payments and subscriptions | bill {t} | did {t} pay? | refund {t} | charge {t} every month @ the customer, order 55, Mr Jones
Human resources: employees, leave and payroll | how many days off does {t} have? | hire {t} | wages of {t} | who reports to {t}? @ Maria, the new engineer, our team
Surveys, forms and feedback | ask people about {t} | what do customers think of {t}? | a questionnaire on {t} @ our service, lunch, the course
Sentiment and text classification | is this comment about {t} angry? | tone of the reviews of {t} | sort messages about {t} by topic @ our hotel, the app, delivery
Detect plagiarism and machine-written text | did a bot write {t}? | is {t} copied? | check whether {t} is original @ this essay, my thesis, the article
Rewrite, paraphrase and improve writing | make {t} sound better | say {t} in other words | fix the style of {t} | more formal version of {t} @ my paragraph, this mail, the intro
Write articles, blog posts and marketing copy | a text about {t} for our site | come up with a headline for {t} | 500 words on {t} @ gardening, cloud security, dogs
Prompt improvement for AI models | better instructions for an image of {t} | optimize what I ask the model about {t} | examples of prompts for {t} @ a portrait, code, summaries
Multiple AI agents and assistants | ask another model about {t} | delegate {t} to agents | automate {t} @ research, my workflow, support
Automate workflows between thousands of apps | when {t} happens, do something | connect {t} with my other tools | sync {t} automatically @ a mail, a form, the sheet
Smart home devices | turn off {t} | make it warmer in {t} | is {t} locked? | dim {t} @ the lights, the kitchen, the front door
Time zones, holidays and dates | what time is it in {t}? | how many days until {t}? | is {t} a bank holiday? @ Sydney, Easter, Monday
Geographic data, coordinates and addresses | where exactly is {t}? | postal code of {t} | which country does {t} belong to? | who lives around {t}? @ this street, Mount Fuji, the village
IP address, DNS and network lookup | where does {t} come from? | who owns {t}? | is {t} reachable? @ 8.8.8.8, this domain, the server
Security scanning, vulnerabilities and passwords | is {t} safe? | known holes in {t} | was {t} leaked? | a strong secret for {t} @ this link, OpenSSL, my account
Cloud storage and files | put {t} into a folder | share {t} with Tom | find my document on {t} | delete old {t} @ the photos, taxes, the backup
Logs, metrics, alerts and incidents | why is {t} slow? | errors of {t} since noon | who is on call for {t}? | what broke {t}? @ checkout, the database, production
Generate QR codes and barcodes | a code to scan that opens {t} | square picture linking to {t} | sticker for {t} @ my site, our wifi, the menu
Create avatars and characters | a cartoon version of {t} | profile picture of {t} | invent a hero like {t} @ me, a knight, my dog
Space and astronomy | what did NASA photograph of {t}? | when can I see {t}? | how far is {t}? @ Mars, the moon, a comet
Environment, air quality and carbon footprint | is the air clean in {t}? | how much CO2 does {t} cause? | pollen in {t} @ Delhi, flying, my town
Earthquakes, storms and natural disasters | did the ground shake in {t}? | is a hurricane coming to {t}? | flood warnings for {t} @ Japan, Florida, my region
Plants, gardening and agriculture | why do the leaves of {t} turn yellow? | when do I sow {t}? | which plant is {t}? @ tomatoes, my roses, wheat
Pets and animals | what may my {t} eat? | a name for a {t} | adopt a {t} near me | my {t} is sick @ dog, cat, rabbit
Dating and relationship advice | how do I talk to {t}? | a first message to {t} | what to do on a date with {t}? @ a girl I like, my ex, someone shy
Parenting and children's activities | my child won't sleep, {t} | indoor games for {t} | names for {t} @ toddlers, a baby, twins
Religious texts and spiritual guidance | what does the Bible say on {t}? | a verse about {t} | prayer for {t} | Quran about {t} @ hope, patience, peace
Quotes and poems | a poem on {t} | something wise about {t} | famous words on {t} @ love, time, failure
Charity and volunteering | where can I donate for {t}? | help out with {t} | good causes about {t} @ children, refugees, animals
Business data and company profiles | who runs {t}? | how many people work at {t}? | competitors of {t} | find firms like {t} @ this startup, Siemens, a supplier
Startup advice and business planning | is {t} a good idea for a company? | write the plan for {t} | name for my firm in {t} | who would invest in {t}? @ a food truck, software, fashion
Procurement, inventory and orders | how many {t} are in stock? | reorder {t} | which supplier sells {t}? | when do we run out of {t}? @ screws, paper, laptops
Local services and contractors | someone to repair {t} | who can paint {t}? | a plumber for {t} | clean {t} @ my roof, the bathroom, our office
Home improvement and interior design | how should I furnish {t}? | colours for {t} | new look for {t} | build {t} myself @ the living room, a shelf, a small flat
Beauty, hair and cosmetics | a cream against {t} | which haircut suits {t}? | makeup for {t} @ dry skin, round faces, a party
Compare products by reviews and ratings | is the {t} any good? | what do buyers say of the {t}? | {t} with the best score @ vacuum cleaner, phone, mattress
Ask experts and community answers | has anyone had trouble with {t}? | what do people on forums say on {t}? | discussions about {t} @ my router, this game, visas
Simulate, forecast and predict outcomes | what are the odds of {t}? | who is going to win {t}? | bet on {t} @ the final, the election, rain
Random numbers, dice and decisions | flip a coin for {t} | pick one of {t} | choose for me: {t} @ my friends, pizza or pasta, these
Remember facts about the user across conversations | keep in mind that {t} | what do you know about {t}? | forget what I said on {t} @ I'm vegetarian, me, my family
""".strip().split("\n")


def _name(tool: str, draw: random.Random) -> str:
    """A tool's name out of one to three of its words."""
    parts = [word.strip(",:.").lower() for word in tool.split() if word.isascii() and len(word) > 3]
    return " ".join(parts[: draw.randint(1, 3)])


def pairs(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Requests, what the tool says of itself, and the scene's field."""
    for at, line in enumerate(_SCENES):
        said, _, things = line.rpartition("@")
        tool, *asks = (part.strip() for part in said.split("|"))
        for ask in asks:
            for thing in things.split(","):
                plain = ask.replace("{t}", thing.strip())
                passage = draw.choice([tool, f"{_name(tool, draw)}: {tool}", f"{_name(tool, draw)}: {tool}. {draw.choice(_TAILS)}"])
                yield plain, passage, f"scene/{at // 12}"


_TAILS = """
An assistant that does it for you.
Works in many countries.
Powered by live data.
The easiest way to get it done.
Ask anything.
Fast, free and simple.
For professionals and beginners.
Get started in seconds.
Our experts keep it up to date.
With more than a million users.
""".strip().split("\n")


def tools() -> list[str]:
    """What every scene's tool says of itself."""
    return [line.split("|")[0].strip() for line in _SCENES]


def asks() -> Iterator[tuple[str, int]]:
    """One plain request for every way of asking, and the place of its tool."""
    for at, line in enumerate(_SCENES):
        said, _, things = line.rpartition("@")
        for i, ask in enumerate(said.split("|")[1:]):
            offered = things.split(",")
            yield ask.strip().replace("{t}", offered[i % len(offered)].strip()), at
