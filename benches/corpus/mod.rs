//! A made-up catalog of any size, and requests for it. Nothing in it comes from a real server.
//!
//! - The seed is [`SEED`], and each server has a stream of numbers of its own: a catalog of 1,000
//!   tools is the beginning of the one of 10,000.
//! - One server for every ten tools, with two resources and, every fourth one, instructions.
//! - A definition has about 1,200 bytes of JSON in the median and 3,000 at the 90th percentile
//!   (log-normal), which is the size of definitions that well-known servers send. A third of it is
//!   description, the rest parameters with types, enums, descriptions and some nested objects.
//! - Words are drawn from 4,096 by Zipf's law: own lists of verbs, nouns and adjectives first, then
//!   made-up ones (`norvik`, `talumer`) for the long tail of product names and jargon. Every third
//!   word of prose is a function word.
//! - A request has 5 to 20 words. About half are taken from one tool of the catalog, the others are
//!   drawn as above.
//!
//! What is not like reality: all prose is one language and no sentence means anything, so figures of
//! speed hold and figures of accuracy do not exist. Names repeat across servers as they really do
//! (`list_items`), so exposed names often carry a prefix.

mod words;

use std::{collections::BTreeSet, env, sync::Arc};

use proem::{
    catalog::Catalog,
    client::{CaptureClient, Client},
    id::ServerId,
    protocol::{Resource, ServerInfo, Tool},
    retrieval::Query,
};
use serde_json::{Map, Value, json};

use self::words::{ADJECTIVES, FUNCTION_WORDS, NOUNS, SYLLABLES, VERBS};

/// Where all numbers come from.
pub(crate) const SEED: u64 = 0x5eed_0f70_0000;

/// The sizes that are measured; the smallest alone where benches are only checked to run (`cargo test --benches`).
pub(crate) fn sizes() -> &'static [usize] {
    if measuring() { &[100, 1_000, 10_000, 50_000] } else { &[100] }
}

/// Whether this is `cargo bench`.
pub(crate) fn measuring() -> bool {
    env::args().any(|argument| argument == "--bench")
}

/// One server as it would be captured.
pub(crate) struct Server {
    pub(crate) id: ServerId,
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Value>,
    pub(crate) resources: Vec<Value>,
}

/// Servers with `tools` tools together.
pub(crate) fn servers(tools: usize) -> Vec<Server> {
    let words = Words::new();
    (0..tools.div_ceil(TOOLS_PER_SERVER))
        .map(|number| words.server(number, TOOLS_PER_SERVER.min(tools - number * TOOLS_PER_SERVER)))
        .collect()
}

/// A catalog of `tools` tools.
pub(crate) fn catalog(tools: usize) -> Catalog {
    catalog_of(&servers(tools))
}

/// A catalog of these servers.
pub(crate) fn catalog_of(servers: &[Server]) -> Catalog {
    let mut builder = Catalog::builder();
    for server in servers {
        let mut info = ServerInfo::default();
        info.instructions.clone_from(&server.instructions);
        builder = builder.server(server.id.clone(), info);
        for tool in &server.tools {
            builder = builder.tool(server.id.clone(), Tool::read(tool.clone()).unwrap().item);
        }
        for resource in &server.resources {
            builder = builder.resource(server.id.clone(), Resource::read(resource.clone()).unwrap().item);
        }
    }
    builder.build()
}

/// The same servers, ready to be asked.
pub(crate) fn clients(servers: &[Server]) -> Vec<(ServerId, Arc<dyn Client>)> {
    servers.iter().map(|server| client(&capture(server))).collect()
}

/// A server as the text of a capture, on one line.
pub(crate) fn capture(server: &Server) -> String {
    let mut capture = json!({"server": server.id.as_str(), "tools": server.tools, "resources": server.resources});
    if let Some(text) = &server.instructions {
        capture["instructions"] = text.as_str().into();
    }
    capture.to_string()
}

/// The client of a capture.
pub(crate) fn client(capture: &str) -> (ServerId, Arc<dyn Client>) {
    let (id, client) = CaptureClient::parse(capture).unwrap();
    (id, Arc::new(client))
}

/// The first tool of the server in the middle says something else.
pub(crate) fn change_one(servers: &mut [Server]) {
    let middle = servers.len() / 2;
    servers[middle].tools[0]["description"] = "Says something else now about the invoice and its shipment.".into();
}

/// `count` different requests for a catalog of `tools` tools.
pub(crate) fn queries(tools: usize, count: usize) -> Vec<Query> {
    let words = Words::new();
    let servers = servers(tools.min(10_000));
    let mut random = Random::new(SEED ^ 0x9e37);
    let mut seen = BTreeSet::new();
    while seen.len() < count {
        let server = &servers[random.below(servers.len())];
        let tool = &server.tools[random.below(server.tools.len())];
        let text = format!("{} {}", tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
        let of_tool: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
        let length = 5 + random.below(16);
        let request: Vec<&str> = (0..length)
            .map(|_| if random.below(2) == 0 { of_tool[random.below(of_tool.len())] } else { words.prose(&mut random) })
            .collect();
        seen.insert(request.join(" "));
    }
    let mut queries: Vec<Query> = seen.into_iter().map(Query::new).collect();
    // Not by the alphabet, which would put like beside like.
    for i in (1..queries.len()).rev() {
        queries.swap(i, random.below(i + 1));
    }
    queries
}

/// A catalog of `count` resources alone, [`RESOURCES_PER_SERVER`] a server: titles of two to five words, paths of
/// three folders, descriptions of about 80 bytes.
pub(crate) fn resources(count: usize) -> Catalog {
    let words = Words::new();
    let mut builder = Catalog::builder();
    for number in 0..count.div_ceil(RESOURCES_PER_SERVER) {
        let mut random = Random::new(SEED.wrapping_add(7 + number as u64).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let domain = NOUNS[random.below(NOUNS.len())];
        let server = ServerId::new(format!("{}-{domain}-{number}", words.draw(&mut random))).unwrap();
        for i in 0..RESOURCES_PER_SERVER.min(count - number * RESOURCES_PER_SERVER) {
            builder = builder.resource(server.clone(), words.resource(&mut random, domain, i));
        }
    }
    builder.build()
}

/// `count` queries as a person would type them to find one of [`resources`]: one to three words of its title, each
/// whole or its beginning.
pub(crate) fn typed(catalog: &Catalog, count: usize) -> Vec<String> {
    let mut random = Random::new(SEED ^ 0x71);
    let resources = catalog.resources();
    let query = |_| {
        let label = resources[random.below(resources.len())].resource.label();
        let words: Vec<&str> = label.split(' ').collect();
        let typed = (0..1 + random.below(3)).map(|_| {
            let word = words[random.below(words.len())].to_lowercase();
            word[..word.len().min(3 + random.below(8))].to_owned()
        });
        typed.collect::<Vec<_>>().join(" ")
    };
    (0..count).map(query).collect()
}

/// One line that says what was generated.
pub(crate) fn describe(servers: &[Server]) -> String {
    let mut sizes: Vec<usize> =
        servers.iter().flat_map(|server| &server.tools).map(|tool| tool.to_string().len()).collect();
    sizes.sort_unstable();
    let at = |share: f64| sizes[((sizes.len() - 1) as f64 * share) as usize];
    format!(
        "corpus: {} tools, {} servers, {:.1} MB of JSON; bytes of a definition: median {}, 90th percentile {}, largest {}",
        sizes.len(),
        servers.len(),
        sizes.iter().sum::<usize>() as f64 / 1e6,
        at(0.5),
        at(0.9),
        at(1.0),
    )
}

const TOOLS_PER_SERVER: usize = 10;
pub(crate) const RESOURCES_PER_SERVER: usize = 200;

/// Sebastiano Vigna's splitmix64: small, fast, and good enough to draw words.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `end`, without it.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal, with mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

struct Words {
    all: Vec<String>,
    /// Sums of 1 / rank.
    sums: Vec<f64>,
}

impl Words {
    const COUNT: usize = 4_096;

    fn new() -> Self {
        let mut random = Random::new(SEED);
        let mut all: Vec<String> = Vec::with_capacity(Self::COUNT);
        let mut seen = BTreeSet::new();
        // The lists take turns, so that frequent words are of all kinds.
        let longest = NOUNS.len().max(VERBS.len()).max(ADJECTIVES.len());
        for i in 0..longest {
            for list in [NOUNS, VERBS, ADJECTIVES] {
                if let Some(word) = list.get(i).filter(|word| seen.insert((**word).to_owned())) {
                    all.push((*word).to_owned());
                }
            }
        }
        while all.len() < Self::COUNT {
            let syllables = 2 + random.below(2);
            let word: String = (0..syllables).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect();
            if seen.insert(word.clone()) {
                all.push(word);
            }
        }
        let mut sum = 0.0;
        let sums = (1..=all.len()).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self { sums: sums.collect(), all }
    }

    fn draw(&self, random: &mut Random) -> &str {
        let at = random.share() * self.sums[self.sums.len() - 1];
        &self.all[self.sums.partition_point(|sum| *sum <= at).min(self.all.len() - 1)]
    }

    fn prose(&self, random: &mut Random) -> &str {
        if random.below(3) == 0 { FUNCTION_WORDS[random.below(FUNCTION_WORDS.len())] } else { self.draw(random) }
    }

    /// Sentences of about so many bytes.
    fn text(&self, random: &mut Random, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        let mut in_sentence = 0;
        while text.len() < bytes {
            let word = self.prose(random);
            if in_sentence == 0 {
                text.push_str(&word[..1].to_uppercase());
                text.push_str(&word[1..]);
            } else {
                text.push(' ');
                text.push_str(word);
            }
            in_sentence += 1;
            if in_sentence > 6 && random.below(6) == 0 {
                text.push_str(". ");
                in_sentence = 0;
            }
        }
        text.truncate(text.trim_end_matches([' ', '.']).len());
        text.push('.');
        text
    }

    fn server(&self, number: usize, tools: usize) -> Server {
        let mut random = Random::new(SEED.wrapping_add(1 + number as u64).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let product = &self.all[512 + random.below(Self::COUNT - 512)];
        let domain = NOUNS[random.below(NOUNS.len())];
        let mut names = BTreeSet::new();
        let tools = (0..tools)
            .map(|_| {
                let name = loop {
                    let name = self.name(&mut random, domain);
                    if names.insert(name.clone()) {
                        break name;
                    }
                };
                self.tool(&mut random, name)
            })
            .collect();
        let resources = (0..2).map(|i| {
            let name = format!("{}-{i}.md", self.draw(&mut random));
            let description = self.text(&mut random, 60);
            json!({
                "uri": format!("file:///{domain}/{name}"), "name": name, "description": description, "size": 2_000,
                "annotations": {"audience": ["assistant"], "priority": random.below(10) as f64 / 10.0},
            })
        });
        let resources = resources.collect();
        let instructions = number.is_multiple_of(4).then(|| self.text(&mut random, 400));
        Server { id: ServerId::new(format!("{product}-{domain}-{number}")).unwrap(), instructions, tools, resources }
    }

    fn resource(&self, random: &mut Random, domain: &str, number: usize) -> Resource {
        let draw = |random: &mut Random, from: usize, more: usize| {
            (0..from + random.below(more)).map(|_| self.draw(random)).collect::<Vec<_>>()
        };
        let folders = draw(random, 3, 1).join("/");
        let title = draw(random, 2, 4).join(" ");
        let name = format!("{}-{number}.md", title.replace(' ', "-"));
        Resource::new(format!("file:///{domain}/{folders}/{name}"), &name)
            .with_title(title[..1].to_uppercase() + &title[1..])
            .with_description(self.text(random, 80))
            .with_mime_type("text/markdown")
            .with_size(200 + random.below(20_000) as u64)
    }

    fn name(&self, random: &mut Random, domain: &str) -> String {
        let verb = VERBS[random.below(VERBS.len())];
        match random.below(4) {
            0 => format!("{verb}_{domain}"),
            1 => format!("{verb}_{domain}_{}", self.draw(random)),
            2 => format!("{verb}_{}", self.draw(random)),
            _ => format!("{verb}_{}_{}", self.draw(random), self.draw(random)),
        }
    }

    fn tool(&self, random: &mut Random, name: String) -> Value {
        let size = (1_200.0 * (0.715 * random.normal()).exp()).clamp(250.0, 30_000.0) as usize;
        let mut tool = json!({"name": name, "description": self.text(random, size / 3)});
        if random.below(3) == 0 {
            tool["title"] = name.replace('_', " ").into();
        }
        if random.below(2) == 0 {
            tool["annotations"] = json!({"readOnlyHint": random.below(2) == 0});
        }
        let mut properties = Map::new();
        let mut required = Vec::new();
        // What the braces around it take.
        let mut left = size.saturating_sub(tool.to_string().len() + 70);
        while left > 60 {
            let (property, schema) = (self.property(random), self.schema(random, 0));
            left = left.saturating_sub(property.len() + schema.to_string().len() + 4);
            if random.below(3) == 0 {
                required.push(property.clone());
            }
            properties.insert(property, schema);
        }
        required.sort_unstable();
        required.dedup();
        tool["inputSchema"] = json!({"type": "object", "properties": properties, "required": required});
        tool
    }

    fn property(&self, random: &mut Random) -> String {
        match random.below(3) {
            0 => self.draw(random).to_owned(),
            1 => format!("{}_id", self.draw(random)),
            _ => format!("{}_{}", self.draw(random), self.draw(random)),
        }
    }

    fn schema(&self, random: &mut Random, depth: usize) -> Value {
        let bytes = 20 + random.below(90);
        let description = self.text(random, bytes);
        match random.below(10) {
            0..5 => json!({"type": "string", "description": description}),
            5 => json!({"type": "integer", "description": description, "minimum": 1, "maximum": 100, "default": 20}),
            6 => json!({"type": "boolean", "description": description, "default": false}),
            7 => {
                let options: BTreeSet<&str> = (0..2 + random.below(6)).map(|_| self.draw(random)).collect();
                json!({"type": "string", "description": description, "enum": options})
            }
            8 => json!({"type": "array", "description": description, "items": {"type": "string"}}),
            _ if depth < 2 => {
                let properties: Map<String, Value> =
                    (0..2).map(|_| (self.property(random), self.schema(random, depth + 1))).collect();
                json!({"type": "object", "description": description, "properties": properties})
            }
            _ => json!({"type": ["string", "null"], "description": description}),
        }
    }
}
