//! How well relevance tells which resources a request needs, over the demo servers.

use proem::{
    Host, TokenBudget,
    client::StreamClient,
    demo,
    id::{ResourceId, ServerId},
    resources::{Attached, ResourceOptions},
};

/// Requests and the resource that answers each, in other words where people would use others.
const NEEDED: [(&str, &str); 28] = [
    ("A customer wants her money back for an order of last month", "support://policies/refunds/2026-09"),
    ("How long after the purchase do we still give refunds?", "support://policies/refunds/2026-09"),
    ("Write a friendly answer to an angry customer in our tone", "support://guides/tone"),
    ("What does our short form OKR mean here?", "wiki://glossary"),
    ("When is the next release?", "wiki://release-calendar/2026-11"),
    ("What are the house rules for employees, from leave to laptops?", "wiki://handbook"),
    ("Can I work from Portugal for a month?", "people://policies/remote-work/2026"),
    ("How many days may I work from home?", "people://policies/remote-work/2026"),
    ("The payment provider answers slowly, what do we do?", "runbook://payments/timeouts"),
    ("Checkout requests to the payment service time out", "runbook://payments/timeouts"),
    ("What may I spend on a hotel in Oslo?", "travel://policy"),
    ("May I fly business class to the conference?", "travel://policy"),
    ("How much may I claim for a team dinner?", "expenses://limits/2026.json"),
    ("Draft a confidentiality agreement with a new supplier", "contract://templates/nda"),
    ("Which tables hold orders and refunds, and how are they joined?", "schema://shop/erd"),
    ("Which services do we deploy, and who owns them?", "deploy://services"),
    ("Who has to approve a change in the shop api repository?", "repo://shop/api/CODEOWNERS"),
    ("How do I build and run the shop API?", "repo://shop/api/README.md"),
    ("Which colours does our brand use?", "asset://brand/rules.md"),
    ("Show me our logo", "asset://logo/round.png"),
    ("How do we translate 'shopping cart' into German?", "glossary://product/de-en.csv"),
    ("Where are our warehouses?", "inventory://warehouses"),
    ("What is left of the budget for 2026?", "file:///Finance/2026/budget.csv"),
    ("Which build machines are busy?", "ci://runners/status.csv"),
    ("What is on my calendar today?", "calendar://today"),
    ("Which reports are computed each night from the shop database?", "schema://shop/reports"),
    ("May I deploy on Friday?", "deploy://freeze"),
    ("Who empties the dishwasher this week?", "wiki://kitchen-rules"),
];

/// Requests that no resource of a workplace answers.
const NOT_NEEDED: [&str; 12] = [
    "hello",
    "thanks, that's all",
    "Write a poem about autumn",
    "What is 17 times 23?",
    "Explain photosynthesis to a child",
    "Translate 'good morning' into French",
    "Who wrote Faust?",
    "Tell me a joke",
    "Sort these numbers: 4, 2, 9",
    "What is the capital of Peru?",
    "Fix the grammar: he go home",
    "yes please",
];

async fn host() -> Host {
    let servers = demo::servers().into_iter().map(|server| (server.id().to_string(), server.serve()));
    let host = servers.fold(Host::builder(), |host, (name, stream)| {
        let (read, write) = tokio::io::split(stream);
        host.server(name, StreamClient::new(read, write))
    });
    let host = host.build().unwrap();
    host.refresh().await;
    host
}

fn options() -> ResourceOptions {
    ResourceOptions::new("2026-11-30T00:00:00Z".parse().unwrap()).with_budget(TokenBudget::new(1_000))
}

/// The attached ones that no server requires.
fn unrequired(attached: &Attached) -> Vec<&str> {
    let unrequired = attached.resources.iter().filter(|resource| !resource.value.required);
    unrequired.map(|resource| &*resource.id.uri).collect()
}

#[tokio::test]
async fn requests_get_the_resource_that_answers_them_and_others_get_none() {
    let (mut found, mut others, mut by_value, mut for_nothing) = (0, 0, 0, 0);
    // By a host each, so that none knows what another read.
    let without_request = host().await.attach("", &options()).await;
    for (request, uri) in NEEDED {
        let attached = host().await.attach(request, &options()).await;
        let has = |attached: &Attached| attached.resources.iter().any(|resource| &*resource.id.uri == uri);
        found += usize::from(has(&attached));
        by_value += usize::from(has(&without_request));
        others += unrequired(&attached).iter().filter(|other| **other != uri).count();
    }
    for request in NOT_NEEDED {
        for_nothing += unrequired(&host().await.attach(request, &options()).await).len();
    }
    // What `docs/resources.md` says.
    assert_eq!((found, others, by_value, for_nothing), (26, 31, 10, 0));
}

#[tokio::test]
async fn what_was_read_is_found_by_what_it_says() {
    let host = host().await;
    let glossary =
        |attached: &Attached| attached.resources.iter().any(|resource| &*resource.id.uri == "wiki://glossary");
    let request = "how many seats does the Elbe have?";
    assert!(!glossary(&host.attach(request, &options()).await));
    let id = ResourceId::new(ServerId::new("wiki").unwrap(), "wiki://glossary");
    assert!(glossary(&host.attach("", &options().with_pin(id)).await));
    assert!(glossary(&host.attach(request, &options()).await));
}
