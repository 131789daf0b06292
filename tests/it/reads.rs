//! Reading resources through the aggregator: what is kept, for whom and how long, and servers that do harm.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{
    collections::BTreeSet,
    fmt,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use proem::{
    Error,
    catalog::{Aggregator, AggregatorOptions, Authorization, CachePolicy, ReadCache, ReadRequest},
    client::{BoxFuture, Change, Client, ClientResult, Limits, ListKind, MemoryClient, Page},
    error::{ClientError, InputRequired},
    id::ResourceId,
    protocol::{
        Completion, CompletionRequest, CompletionTarget, InputResponses, ReadResourceResult, ResourceContents,
        ServerInfo,
    },
};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{Notify, broadcast},
    time::timeout,
};

use crate::fake::id;

type Read = Result<ReadResourceResult, ClientError>;
type Answer = dyn Fn(&str, usize) -> BoxFuture<'static, Read> + Send + Sync;

/// A server that answers each read by a function of the URI and of how many reads there were before.
struct Server {
    answer: Box<Answer>,
    reads: AtomicUsize,
    inputs: Mutex<Vec<InputResponses>>,
    watched: Mutex<Vec<BTreeSet<String>>>,
    watches: bool,
    info: ServerInfo,
    changes: broadcast::Sender<Change>,
}

impl Server {
    fn new(answer: impl Fn(&str, usize) -> BoxFuture<'static, Read> + Send + Sync + 'static) -> Self {
        Self {
            answer: Box::new(answer),
            reads: AtomicUsize::new(0),
            inputs: Mutex::default(),
            watched: Mutex::default(),
            watches: true,
            info: ServerInfo::default(),
            changes: broadcast::channel(16).0,
        }
    }

    /// A server whose every read gives its number, with these fields beside the contents.
    fn counting(beside: Value) -> Self {
        Self::new(move |uri, number| {
            let mut result = beside.clone();
            result["contents"] = json!([{"uri": uri, "text": format!("read {number}")}]);
            Box::pin(async { read(result) })
        })
    }

    fn failing(code: i64) -> Self {
        Self::new(move |_, _| Box::pin(async move { Err(ClientError::rpc(code, "as the script says")) }))
    }

    fn giving(result: Value) -> Self {
        Self::new(move |_, _| {
            let result = result.clone();
            Box::pin(async { read(result) })
        })
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    fn say(&self, change: Change) {
        self.changes.send(change).unwrap();
    }

    fn asked(&self, uri: &str) -> BoxFuture<'static, Read> {
        (self.answer)(uri, self.reads.fetch_add(1, Ordering::SeqCst))
    }
}

fn read(result: Value) -> Read {
    ReadResourceResult::read(result).map(|read| read.item).map_err(ClientError::malformed)
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Server")
    }
}

impl Client for Server {
    fn info(&self) -> ClientResult<'_, ServerInfo> {
        Box::pin(async { Ok(self.info.clone()) })
    }

    fn list<'a>(&'a self, _: ListKind, _: Option<&'a str>) -> ClientResult<'a, Page> {
        Box::pin(async { Ok(Page::default()) })
    }

    fn read_resource<'a>(&'a self, uri: &'a str) -> ClientResult<'a, ReadResourceResult> {
        self.asked(uri)
    }

    fn read_resource_with<'a>(
        &'a self,
        uri: &'a str,
        input: &'a InputResponses,
    ) -> ClientResult<'a, ReadResourceResult> {
        self.inputs.lock().unwrap().push(input.clone());
        self.asked(uri)
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest) -> ClientResult<'a, Completion> {
        Box::pin(async move {
            match request.argument.as_str() {
                "slow" => pending().await,
                "large" => Ok(Completion::new(["x".repeat(2 << 20)])),
                _ => Ok(Completion::new(["one", "two"])),
            }
        })
    }

    fn watch<'a>(&'a self, uris: &'a BTreeSet<String>) -> ClientResult<'a, ()> {
        Box::pin(async {
            self.watched.lock().unwrap().push(uris.clone());
            if self.watches { Ok(()) } else { Err(ClientError::Unsupported) }
        })
    }

    fn changes(&self) -> Option<broadcast::Receiver<Change>> {
        Some(self.changes.subscribe())
    }
}

fn over(server: Server) -> (Arc<Server>, Aggregator) {
    let server = Arc::new(server);
    let aggregator = with(&server, AggregatorOptions::default());
    (server, aggregator)
}

fn with(server: &Arc<Server>, options: AggregatorOptions) -> Aggregator {
    Aggregator::new([(id("shop"), Arc::clone(server) as Arc<dyn Client>)], options)
}

fn day() -> ResourceId {
    ResourceId::new(id("shop"), "shop://day/1")
}

async fn text(aggregator: &Aggregator, request: &ReadRequest) -> String {
    aggregator.read(&day(), request).await.unwrap().contents[0].text.clone().unwrap()
}

/// What a read that must fail says.
async fn failure(server: Server, request: &ReadRequest) -> String {
    over(server).1.read(&day(), request).await.unwrap_err().to_string()
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_given_again_as_long_as_its_server_says() {
    let (server, aggregator) = over(Server::counting(json!({"ttlMs": 5_000, "cacheScope": "private"})));
    let request = ReadRequest::new();
    assert_eq!(text(&aggregator, &request).await, "read 0");
    tokio::time::advance(Duration::from_millis(4_999)).await;
    assert_eq!(text(&aggregator, &request).await, "read 0");
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(text(&aggregator, &request).await, "read 1");
    assert_eq!(text(&aggregator, &request.clone().with_cache(CachePolicy::Never)).await, "read 2");
    assert_eq!(text(&aggregator, &request).await, "read 1", "what was never to be kept was not");
    assert_eq!(server.reads(), 3);

    // A smaller bound holds for what is kept too.
    let small = aggregator.read(&day(), &request.with_max_bytes(5)).await.unwrap_err().to_string();
    assert!(small.contains("6 bytes of contents, more than 5"), "{small}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_asked_each_time_unless_the_host_decides() {
    let (server, aggregator) = over(Server::counting(json!({})));
    assert_eq!(text(&aggregator, &ReadRequest::new()).await, "read 0");
    let minute = ReadRequest::new().with_cache(CachePolicy::For(Duration::from_secs(60)));
    assert_eq!(text(&aggregator, &minute).await, "read 1");
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(text(&aggregator, &minute).await, "read 1");
    assert_eq!(text(&aggregator, &ReadRequest::new()).await, "read 2");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(text(&aggregator, &minute).await, "read 3");
    assert_eq!(server.reads(), 4);
}

#[tokio::test]
async fn what_is_private_stays_with_its_user_and_what_is_public_serves_all() {
    for (scope, expected) in [("private", ["read 0", "read 1"]), ("public", ["read 0", "read 0"])] {
        let server = Arc::new(Server::counting(json!({"ttlMs": 60_000, "cacheScope": scope})));
        let reads = Arc::new(ReadCache::new());
        let of = |user: &str| {
            let mut options = AggregatorOptions::default();
            (options.reads, options.authorization) = (Arc::clone(&reads), Authorization::new(user));
            with(&server, options)
        };
        let (ada, grace) = (of("ada"), of("grace"));
        for _ in 0..2 {
            assert_eq!([text(&ada, &ReadRequest::new()).await, text(&grace, &ReadRequest::new()).await], expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_is_forgotten_as_soon_as_it_is_heard() {
    let (server, aggregator) = over(Server::counting(json!({"ttlMs": 60_000})));
    let request = ReadRequest::new();
    for (change, expected) in [
        (Change::Resource("shop://day/2".into()), "read 0"),
        (Change::List(ListKind::Resources), "read 0"),
        (Change::Resource("shop://day/1".into()), "read 1"),
        (Change::Reconnected, "read 2"),
    ] {
        text(&aggregator, &request).await;
        server.say(change.clone());
        tokio::task::yield_now().await;
        // Before anybody dealt with the news.
        assert_eq!(text(&aggregator, &request).await, expected, "{change:?}");
    }
    // More than anybody could hear: nobody knows what was among it.
    for _ in 0..100 {
        server.say(Change::List(ListKind::Tools));
    }
    tokio::task::yield_now().await;
    assert_eq!(text(&aggregator, &request).await, "read 3");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_asked_for_before_the_news_is_not_kept() {
    for change in [Change::Resource("shop://day/1".into()), Change::Reconnected] {
        let gate = Arc::new(Notify::new());
        let opens = Arc::clone(&gate);
        let (server, aggregator) = over(Server::new(move |uri, number| {
            let (uri, gate) = (uri.to_owned(), Arc::clone(&opens));
            Box::pin(async move {
                if number == 0 {
                    gate.notified().await;
                }
                let contents = json!([{"uri": uri, "text": format!("read {number}")}]);
                read(json!({"contents": contents, "ttlMs": 60_000, "cacheScope": "public"}))
            })
        }));
        let request = ReadRequest::new();
        let (late, ()) = tokio::join!(text(&aggregator, &request), async {
            server.say(change);
            let (_, news) = aggregator.changed().await;
            assert!(!news.resources.is_empty() || !news.lists.is_empty());
            // A later reader does not wait for the earlier one, nor is it given its answer.
            assert_eq!(text(&aggregator, &request).await, "read 1");
            gate.notify_one();
        });
        assert_eq!(late, "read 0");
        assert_eq!(text(&aggregator, &request).await, "read 1");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_reads_at_once_are_each_answered() {
    let (server, aggregator) = over(Server::counting(json!({"ttlMs": 60_000})));
    let aggregator = Arc::new(aggregator);
    let reading = (0..200).map(|i| {
        let aggregator = Arc::clone(&aggregator);
        let id = ResourceId::new(id("shop"), format!("shop://day/{}", i % 20));
        tokio::spawn(async move {
            let result = aggregator.read(&id, &ReadRequest::new()).await.unwrap();
            assert_eq!(result.contents[0].uri, *id.uri);
        })
    });
    for read in reading.collect::<Vec<_>>() {
        read.await.unwrap();
    }
    assert!((20..=200).contains(&server.reads()));
}

#[tokio::test]
async fn one_uri_on_two_servers_is_two_resources() {
    let server = |text: &str| {
        let client = MemoryClient::new().with_resource("file:///notes.md", text);
        Arc::new(client.with_read_ttl(Duration::from_secs(60), Default::default())) as Arc<dyn Client>
    };
    let servers = [(id("home"), server("Buy bread.")), (id("work"), server("Call Ada."))];
    let aggregator = Aggregator::new(servers, AggregatorOptions::default());
    for _ in 0..2 {
        for (name, text) in [("home", "Buy bread."), ("work", "Call Ada.")] {
            let id = ResourceId::new(id(name), "file:///notes.md");
            let result = aggregator.read(&id, &ReadRequest::new()).await.unwrap();
            assert_eq!(result.contents, [ResourceContents::text("file:///notes.md", text)]);
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_what_is_empty_is_empty() {
    for code in [ClientError::INVALID_PARAMS, ClientError::RESOURCE_NOT_FOUND] {
        let (_, aggregator) = over(Server::failing(code));
        let error = aggregator.read(&day(), &ReadRequest::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "no resource `shop://day/1` on server `shop`");
        let long = ResourceId::new(id("shop"), format!("shop://\n{}", "x".repeat(10_000)));
        let error = aggregator.read(&long, &ReadRequest::new()).await.unwrap_err();
        assert!(error.is_not_found() && error.to_string().len() < 300 && !error.to_string().contains('\n'));
    }
    let failed = failure(Server::failing(-32_603), &ReadRequest::new()).await;
    assert_eq!(failed, "server `shop`: resources/read: the server answered error -32603: as the script says");

    let (_, aggregator) = over(Server::giving(json!({"contents": []})));
    assert_eq!(aggregator.read(&day(), &ReadRequest::new()).await.unwrap().contents, []);
    let nowhere = ResourceId::new(id("nowhere"), "shop://day/1");
    let unknown = aggregator.read(&nowhere, &ReadRequest::new()).await.unwrap_err();
    assert!(matches!(unknown, Error::UnknownServer { .. }), "{unknown}");
}

#[tokio::test]
async fn a_server_that_asks_first_is_answered_and_neither_is_kept() {
    let (server, aggregator) = over(Server::new(|uri, number| {
        let contents = json!([{"uri": uri, "text": format!("read {number}")}]);
        Box::pin(async move {
            if number % 2 == 1 {
                return read(json!({"contents": contents, "ttlMs": 60_000, "cacheScope": "public"}));
            }
            let requests = json!({"who": {"method": "elicitation/create"}}).as_object().cloned().unwrap();
            let asked = InputRequired::new(requests, Some("state".into()));
            Err(ClientError::InputRequired(Box::new(asked)))
        })
    }));
    for round in 0..2 {
        let error = aggregator.read(&day(), &ReadRequest::new()).await.unwrap_err();
        let Error::Server { source: ClientError::InputRequired(asked), .. } = error else { panic!("{error}") };
        let input = InputResponses::new(asked.state.clone()).with_response("who", json!({"action": "accept"}));
        assert_eq!(
            text(&aggregator, &ReadRequest::new().with_input(input.clone())).await,
            format!("read {}", 2 * round + 1)
        );
        assert_eq!(server.inputs.lock().unwrap()[round], input);
    }
    // There it is the answers that are wrong, not the URI.
    let (_, aggregator) = over(Server::failing(ClientError::INVALID_PARAMS));
    let request = ReadRequest::new().with_input(InputResponses::new(None));
    let wrong = aggregator.read(&day(), &request).await.unwrap_err();
    assert!(matches!(wrong, Error::Server { .. }), "{wrong}");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_never_ends_times_out_and_one_that_is_given_up_does_no_harm() {
    let (_, aggregator) = over(Server::new(|_, number| match number {
        0 | 1 => Box::pin(pending()),
        _ => Box::pin(async { read(json!({"contents": [{"uri": "a:b", "text": "there"}], "ttlMs": 1_000})) }),
    }));
    let request = ReadRequest::new().with_time(Duration::from_secs(5));
    let error = aggregator.read(&day(), &request).await.unwrap_err();
    assert_eq!(error.to_string(), "server `shop`: resources/read: no answer within 5s");
    assert!(timeout(Duration::from_secs(1), aggregator.read(&day(), &request)).await.is_err(), "dropped");
    assert_eq!(text(&aggregator, &request).await, "there");

    let mut options = AggregatorOptions::default();
    options.limits = Limits::default().with_request(Duration::from_secs(2));
    let silent = Arc::new(Server::new(|_, _| Box::pin(pending())));
    let error = with(&silent, options).read(&day(), &request).await.unwrap_err();
    assert!(error.is_timeout() && error.to_string().ends_with("within 2s"), "the host's own limit: {error}");
}

#[tokio::test]
async fn answers_that_are_too_large_are_refused_with_their_sizes() {
    let text = |bytes: usize| Server::giving(json!({"contents": [{"uri": "a:b", "text": "x".repeat(bytes)}]}));
    let mebibyte = ReadRequest::new().with_max_bytes(1 << 20);
    assert!(over(text(1 << 20)).1.read(&day(), &mebibyte).await.is_ok());
    let failed = failure(text((1 << 20) + 1), &mebibyte).await;
    let expected = "server `shop`: resources/read: unreadable answer: it is too large: 1048577 bytes of contents, \
                    more than 1048576";
    assert_eq!(failed, expected);

    // Text and blob count together, and the default is four of them.
    let both =
        json!({"contents": [{"uri": "a:b", "text": "x".repeat(3 << 20)}, {"uri": "a:c", "blob": "A".repeat(2 << 20)}]});
    assert!(
        failure(Server::giving(both), &ReadRequest::new())
            .await
            .contains("5242880 bytes of contents, more than 4194304")
    );

    let contents = |count: usize| json!({"contents": vec![json!({"uri": "a:b", "text": ""}); count]});
    assert!(over(Server::giving(contents(256))).1.read(&day(), &ReadRequest::new()).await.is_ok());
    let failed = failure(Server::giving(contents(10_000)), &ReadRequest::new()).await;
    assert!(failed.ends_with("it is too large: 10000 contents, more than 256"), "{failed}");

    let beside = [
        json!({"contents": [{"uri": "x".repeat(2 << 20), "text": ""}]}),
        json!({"contents": [], "_meta": {"x": "x".repeat(2 << 20)}}),
        json!({"contents": [], "_meta": vec![0; 1 << 20]}),
    ];
    for large in beside {
        let failed = failure(Server::giving(large), &ReadRequest::new()).await;
        assert!(failed.contains("bytes beside its contents, more than 1048576"), "{failed}");
    }
}

#[tokio::test]
async fn contents_are_kept_as_they_are_and_bad_ones_cost_themselves() {
    let (_, aggregator) = over(Server::giving(json!({"contents": [
        {"uri": "shop://day/1", "text": "Open.", "mimeType": 7},
        {"text": "without a URI"},
        7,
        {"uri": "file:///etc/passwd", "mimeType": "text/plain", "text": "somebody else's URI"},
        {"uri": "shop://day/1#picture", "mimeType": "image/png"},
        {"uri": "", "blob": "AAAA"},
    ]})));
    let result = aggregator.read(&day(), &ReadRequest::new()).await.unwrap();
    let expected = [
        ResourceContents::text("shop://day/1", "Open."),
        ResourceContents::text("file:///etc/passwd", "somebody else's URI").with_mime_type("text/plain"),
        ResourceContents::blob("", "AAAA"),
    ];
    assert_eq!(result.contents, expected);
}

#[tokio::test]
async fn a_cache_that_is_full_forgets_the_oldest() {
    let server = Arc::new(Server::counting(json!({"ttlMs": 60_000, "_meta": {"padding": "x".repeat(10_000)}})));
    let mut options = AggregatorOptions::default();
    options.reads = Arc::new(ReadCache::with_max_bytes(100_000));
    let reads = Arc::clone(&options.reads);
    let aggregator = with(&server, options);
    for day in 0..100 {
        let id = ResourceId::new(id("shop"), format!("shop://day/{day}"));
        aggregator.read(&id, &ReadRequest::new()).await.unwrap();
        assert!(reads.bytes() <= 100_000);
    }
    assert!(reads.bytes() > 80_000);
    let last = ResourceId::new(id("shop"), "shop://day/99");
    aggregator.read(&last, &ReadRequest::new()).await.unwrap();
    assert_eq!(server.reads(), 100);
    text(&aggregator, &ReadRequest::new()).await;
    assert_eq!(server.reads(), 101);
}

#[tokio::test(start_paused = true)]
async fn completion_is_bounded_and_not_asked_of_a_server_that_offers_none() {
    let (_, aggregator) = over(Server::counting(json!({})));
    let request = |argument: &str| CompletionRequest::new(CompletionTarget::prompt("greet"), argument);
    let shop = id("shop");
    assert_eq!(aggregator.complete(&shop, &request("who")).await.unwrap().values, ["one", "two"]);
    assert!(aggregator.complete(&shop, &request("slow")).await.unwrap_err().is_timeout());
    let large = aggregator.complete(&shop, &request("large")).await.unwrap_err().to_string();
    assert!(large.ends_with("it is too large: 2097152 bytes of values, more than 1048576"), "{large}");
    let unknown = aggregator.complete(&id("nowhere"), &request("who")).await.unwrap_err();
    assert!(matches!(unknown, Error::UnknownServer { .. }), "{unknown}");

    let mut server = Server::counting(json!({}));
    server.info.capabilities = Some(Map::new());
    let (_, aggregator) = over(server);
    aggregator.refresh().await;
    // It would never answer.
    let none = aggregator.complete(&shop, &request("slow")).await.unwrap_err();
    assert!(none.is_unsupported(), "{none}");
}

#[tokio::test]
async fn each_server_watches_its_own_resources_and_those_that_refuse_are_named() {
    let client = |watches: bool| {
        let mut server = Server::counting(json!({}));
        server.watches = watches;
        Arc::new(server)
    };
    let (shop, mail, wiki) = (client(true), client(false), client(true));
    let servers = [("shop", &shop), ("mail", &mail), ("wiki", &wiki)];
    let servers = servers.map(|(name, client)| (id(name), Arc::clone(client) as Arc<dyn Client>));
    let aggregator = Aggregator::new(servers, AggregatorOptions::default());
    let set = |ids: &[(&str, &str)]| ids.iter().map(|(server, uri)| ResourceId::new(id(server), *uri)).collect();
    let uris = |uris: &[&str]| uris.iter().map(|uri| (*uri).to_owned()).collect::<BTreeSet<_>>();

    let all = set(&[("shop", "a:1"), ("shop", "a:2"), ("mail", "a:1"), ("nowhere", "a:1")]);
    let refused = aggregator.watch(&all).await;
    assert_eq!(refused.keys().map(ToString::to_string).collect::<Vec<_>>(), ["mail", "nowhere"]);
    assert!(refused[&id("mail")].is_unsupported());
    assert_eq!(*shop.watched.lock().unwrap(), [uris(&["a:1", "a:2"])]);

    assert!(aggregator.watch(&BTreeSet::new()).await.is_empty(), "who refused is not asked to stop");
    assert!(aggregator.watch(&BTreeSet::new()).await.is_empty());
    assert_eq!(*shop.watched.lock().unwrap(), [uris(&["a:1", "a:2"]), uris(&[])], "told once");
    assert!(wiki.watched.lock().unwrap().is_empty(), "never asked");
    shop.say(Change::Resource("a:1".into()));
    let (_, news) = aggregator.changed().await;
    assert_eq!(news.resources, [(id("shop"), "a:1".to_owned())].into());
}

#[cfg(feature = "rmcp")]
mod over_a_stream {
    use proem::client::StreamClient;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split};

    use super::*;

    const PIECE: usize = 64 << 10;
    const PIECES: usize = 1 << 14;

    /// The near end of a server that answers `shop://huge` with a gigabyte, counting what it has sent.
    fn serve(sent: Arc<AtomicUsize>) -> (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) {
        let (near, far) = duplex(PIECE);
        tokio::spawn(async move {
            let (read, mut write) = split(far);
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let (id, uri) = (&message["id"], message["params"]["uri"].as_str());
                let result = match message["method"].as_str().unwrap() {
                    "server/discover" => json!({
                        "resultType": "complete", "supportedVersions": ["2026-07-28"],
                        "capabilities": {"resources": {}}, "ttlMs": 0, "cacheScope": "private",
                    }),
                    "resources/read" if uri == Some("shop://huge") => {
                        let head =
                            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"contents":[{{"uri":"a:b","text":""#);
                        write.write_all(head.as_bytes()).await.unwrap();
                        let piece = vec![b'x'; PIECE];
                        for _ in 0..PIECES {
                            write.write_all(&piece).await.unwrap();
                            sent.fetch_add(PIECE, Ordering::SeqCst);
                        }
                        write.write_all(b"\"}]}}\n").await.unwrap();
                        continue;
                    }
                    "resources/read" => json!({"contents": [{"uri": uri, "text": "small"}]}),
                    _ => continue,
                };
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        });
        split(near)
    }

    #[tokio::test]
    async fn a_resource_of_a_gigabyte_fails_long_before_its_end_and_the_connection_goes_on() {
        let sent = Arc::new(AtomicUsize::new(0));
        let (read, write) = serve(Arc::clone(&sent));
        let client = Arc::new(StreamClient::new(read, write)) as Arc<dyn Client>;
        let aggregator = Aggregator::new([(id("shop"), client)], AggregatorOptions::default());
        let huge = ResourceId::new(id("shop"), "shop://huge");
        let error = aggregator.read(&huge, &ReadRequest::new()).await.unwrap_err();
        let expected = "server `shop`: resources/read: unreadable answer: it is longer than 67108864 bytes";
        assert_eq!(error.to_string(), expected);
        let told_at = sent.load(Ordering::SeqCst);
        assert!(told_at < 80 << 20, "{told_at}");
        assert_eq!(text(&aggregator, &ReadRequest::new()).await, "small");
        assert_eq!(sent.load(Ordering::SeqCst), 1 << 30);
    }
}
