//! Real models over a real ONNX Runtime, both fetched by `scripts/onnx-models`; without them the
//! tests are skipped. The cross-encoder is our own: see `scripts/tiny-models`.

use std::{
    env::{
        self,
        consts::{DLL_PREFIX, DLL_SUFFIX},
    },
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock},
    thread,
    time::{Duration, Instant},
};

use proem::{
    Host,
    catalog::Catalog,
    client::{MemoryClient, StreamClient},
    demo,
    eval::{DataSet, evaluate},
    id::{ServerId, ToolId},
    index::{Embedder, FastEmbedder, Languages, OnnxModel, Pooling, TextKind},
    protocol::Tool,
    retrieval::{Candidate, Dense, FastReranker, Filter, Hit, Hybrid, Lexical, Query, Reranker, Retriever, ToolIndex},
};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::outside;

pub(crate) fn library() -> Option<PathBuf> {
    outside::models(&format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}"))
}

pub(crate) fn mini_lm() -> Option<PathBuf> {
    outside::models("all-MiniLM-L6-v2")
}

fn model(folder: impl Into<PathBuf>) -> Option<OnnxModel> {
    Some(OnnxModel::folder(folder).with_runtime(library()?))
}

/// All-MiniLM-L6-v2, loaded once for all tests.
fn embedder() -> Option<Arc<FastEmbedder>> {
    static EMBEDDER: LazyLock<Option<Arc<FastEmbedder>>> =
        LazyLock::new(|| Some(Arc::new(FastEmbedder::builder(model(mini_lm()?)?).build().unwrap())));
    EMBEDDER.clone()
}

pub(crate) fn overlap() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/overlap")
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn vectors_have_length_1_and_near_ones_mean_the_same() {
    let Some(embedder) = embedder() else { return };
    assert_eq!(embedder.dimensions(), 384);
    let texts = ["a customer wants a refund", "give the buyer the money back", "merge the release branch", " \n", ""];
    let vectors = embedder.embed(&texts, TextKind::Query).unwrap();
    // As onnxruntime and tokenizers give them in Python, with the mean taken by hand.
    let expected = [-0.11893715, 0.0502087, 0.0181244, -0.000644];
    assert!(vectors[0].iter().zip(expected).all(|(x, expected)| (x - expected).abs() < 1e-3), "{:?}", &vectors[0][..4]);
    for vector in &vectors[..3] {
        assert!((dot(vector, vector) - 1.0).abs() < 1e-5);
    }
    let (related, unrelated) = (dot(&vectors[0], &vectors[1]), dot(&vectors[0], &vectors[2]));
    assert!(related > 0.4 && unrelated < 0.1, "{related} {unrelated}");
    assert!(vectors[3..].iter().flatten().all(|x| *x == 0.0), "of nothing nothing is known");
}

#[test]
fn a_text_has_one_vector_in_any_batch_on_any_thread() {
    let Some(embedder) = embedder() else { return };
    let long = "list all files of the folder ".repeat(200);
    let texts = ["send", "merge a branch into another one", &long, "日本語", "what's up? 🎉\0"];
    let alone: Vec<_> =
        texts.iter().map(|text| embedder.embed(&[text], TextKind::Document).unwrap().remove(0)).collect();
    assert_eq!(embedder.embed(&texts, TextKind::Document).unwrap(), alone);
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    thread::scope(|scope| {
        let runs: Vec<_> =
            (0..4).map(|_| scope.spawn(|| embedder.embed(&backwards, TextKind::Document).unwrap())).collect();
        for run in runs {
            assert!(run.join().unwrap().iter().eq(alone.iter().rev()));
        }
    });
    let expected = [-0.05296031, 0.00366223, -0.02537799, -0.00957833];
    assert!(alone[2].iter().zip(expected).all(|(x, expected)| (x - expected).abs() < 1e-3), "{:?}", &alone[2][..4]);
    // The rest of a long text is not read, and how many threads run the model changes nothing.
    let longer = format!("{long}and more");
    assert_eq!(embedder.embed(&[&longer], TextKind::Document).unwrap()[0], alone[2]);
    let one_thread = FastEmbedder::builder(model(mini_lm().unwrap()).unwrap().with_threads(1)).build().unwrap();
    assert_eq!(one_thread.embed(&texts, TextKind::Document).unwrap(), alone);
    assert_eq!(one_thread.identity(), embedder.identity());
}

#[test]
fn what_changes_vectors_changes_the_identity() {
    let Some(folder) = mini_lm() else { return };
    let Some(model) = model(folder) else { return };
    let builder = || FastEmbedder::builder(model.clone());
    let plain = builder().build().unwrap();
    assert_eq!(plain.identity(), builder().with_pooling(Pooling::Mean).build().unwrap().identity());
    let prefixed = builder().with_prefix(TextKind::Query, "query: ").build().unwrap();
    let others = [
        builder().with_pooling(Pooling::Cls).build().unwrap(),
        builder().with_prefix(TextKind::Document, "query: ").build().unwrap(),
        FastEmbedder::builder(model.clone().with_max_length(16)).build().unwrap(),
    ];
    let mut identities: Vec<_> = others.iter().chain([&plain, &prefixed]).map(|embedder| embedder.identity()).collect();
    identities.sort_unstable();
    identities.dedup();
    assert_eq!(identities.len(), 5);
    // A prefix is what stands before the text.
    let (text, whole) = (["refund"], ["query: refund"]);
    assert_eq!(prefixed.embed(&text, TextKind::Query).unwrap(), plain.embed(&whole, TextKind::Query).unwrap());
    assert_eq!(prefixed.embed(&text, TextKind::Document).unwrap(), plain.embed(&text, TextKind::Document).unwrap());
}

#[test]
fn an_english_model_says_what_it_does_not_know() {
    let Some(embedder) = embedder() else { return };
    for text in [
        "给客户退款",
        "明日の天気を教えて",
        "พรุ่งนี้อากาศเป็นอย่างไร",
        "كيف سيكون الطقس غدا",
        "покажи файлы в папке",
        "내일 날씨 알려줘",
        "Quero reembolsar um cliente por uma cobrança duplicada",
        "Mostre os pedidos atrasados deste mês",
        "Zeige die verspäteten Bestellungen dieses Monats",
        "退款",
    ] {
        assert_eq!(embedder.covers(text), 0.0, "{text}");
    }
    for text in ["merge the release branch", "a customer wants a refund", "What's the weather in Lisboa?", "42", ""] {
        assert_eq!(embedder.covers(text), 1.0, "{text}");
    }
    assert_eq!(embedder.covers("refund"), 0.5);
    let some = embedder.covers("create a ticket for the 退款 of order 4812, 客户 is angry");
    assert!(some > 0.9, "{some}");

    let many =
        FastEmbedder::builder(model(mini_lm().unwrap()).unwrap()).with_languages(Languages::Many).build().unwrap();
    assert_eq!(many.covers("Quero reembolsar um cliente por uma cobrança duplicada"), 1.0);
    assert_eq!(many.covers("ሰላም"), 0.0, "its vocabulary has no such letters");
}

/// A query in another language against an English catalog, and against one in that language.
#[test]
fn hybrid_is_never_worse_than_words_in_other_languages() {
    let Some(embedder) = embedder() else { return };
    let english = [
        ("refund", "Give a customer the money back"),
        ("forecast", "The weather of tomorrow for a city"),
        ("merge", "Merge a branch into another one"),
        ("github_issue", "Create an issue on GitHub"),
    ];
    for (own, query, tool) in [
        (("天气", "查询明天的天气"), "明天北京的天气怎么样", "天气"),
        (("天気", "明日の天気を調べる"), "東京の明日の天気を教えて", "天気"),
        (("อากาศ", "พยากรณ์อากาศวันพรุ่งนี้"), "พยากรณ์อากาศพรุ่งนี้", "อากาศ"),
        (("الطقس", "حالة الطقس غدا في مدينة"), "كيف حالة الطقس غدا", "الطقس"),
        (("погода", "Прогноз погоды на завтра"), "какая завтра погода", "погода"),
        (("previsao", "A previsão do tempo para amanhã"), "qual é a previsão do tempo para amanhã?", "previsao"),
        (("other", "Nothing to do with it"), "用 GitHub 创建一个 issue", "github_issue"),
    ] {
        let server = ServerId::new("s").unwrap();
        let tools = english.into_iter().chain([own]).fold(Catalog::builder(), |builder, (name, description)| {
            builder.tool(server.clone(), Tool::new(name, description))
        });
        let catalog = tools.build();
        let dense = Dense::shared(Arc::clone(&embedder) as Arc<dyn Embedder>);
        let order = |retriever: &dyn Retriever| -> Vec<String> {
            let ranking = retriever.index(&catalog, None).unwrap().search(&query.into(), &Filter::new(), 5).unwrap();
            ranking.hits.iter().map(|hit| hit.tool.name.to_string()).collect()
        };
        let by_words = order(&Lexical::new());
        assert_eq!(by_words[0], tool, "{query}");
        assert_eq!(order(&Hybrid::of(Lexical::new(), dense)), by_words, "{query}");
    }
}

#[tokio::test]
async fn a_host_finds_tools_by_meaning() {
    let Some(embedder) = embedder() else { return };
    let host = |retriever: Hybrid| {
        let host = demo::servers().into_iter().fold(Host::builder(), |host, server| {
            let name = server.id().to_string();
            let (read, write) = tokio::io::split(server.serve());
            host.server(name, StreamClient::new(read, write))
        });
        host.retriever(retriever).build().unwrap()
    };
    let host = host(Hybrid::of(Lexical::new(), Dense::shared(embedder)));
    let catalog = host.refresh().await;
    let index = host.composer().index(&catalog).await.unwrap();
    let by_words = Lexical::new().index(&catalog, None).unwrap();
    // It shares no word with the request.
    let query = Query::new("where can I sleep in Lyon?");
    let tool = ToolId::new(ServerId::new("travel").unwrap(), "search_hotels");
    let found = |index: &dyn ToolIndex, query: &Query, limit| -> Vec<ToolId> {
        index.search(query, &Filter::new(), limit).unwrap().hits.into_iter().map(|hit| hit.tool).collect()
    };
    assert!(!found(&*by_words, &query, 146).contains(&tool));
    assert!(found(&*index, &query, 3).contains(&tool));
    for question in demo::QUESTIONS {
        let ranking = index.search(&question.text.into(), &Filter::new(), 5).unwrap();
        assert!(ranking.channels.iter().all(|channel| channel.trouble.is_none()), "{:?}", ranking.channels);
    }
}

/// NDCG@10, recall at 1, 5 and 10: by vectors, and by both. Processors differ in the last digits of
/// a vector, which may move a tool that is as good as another.
#[test]
fn livemcpbench() {
    let (Some(embedder), Some(folder)) = (embedder(), outside::shared("bench/livemcpbench")) else { return };
    let set = DataSet::open(&folder).unwrap();
    let figures = |retriever: &dyn Retriever| {
        let report = evaluate(&set, retriever, 10, |_, _| {}).unwrap();
        let row = &report.rows[0];
        [row.ndcg_10, row.recall_1, row.recall_5, row.recall_10]
    };
    let dense = Dense::shared(embedder);
    let (by_vectors, by_both) = (figures(&dense), figures(&Hybrid::of(Lexical::new(), dense.clone())));
    let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.5);
    let expected = ([37.66, 16.22, 36.69, 46.0], [41.06, 15.93, 42.44, 49.12]);
    assert!(near(by_vectors, expected.0) && near(by_both, expected.1), "{by_vectors:?} {by_both:?}");
}

/// A copy of a model's folder.
fn copy(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    copy
}

#[test]
fn broken_folders_are_errors_that_name_the_file() {
    let Some(folder) = mini_lm() else { return };
    let said = |spoil: &dyn Fn(&Path)| {
        let copy = copy(&folder);
        spoil(copy.path());
        match FastEmbedder::builder(model(copy.path()).unwrap()).build() {
            Ok(embedder) => embedder.identity().to_owned(),
            Err(error) => error.to_string().replace(&copy.path().display().to_string(), "DIR"),
        }
    };
    let plain = said(&|_| {});
    assert!(plain.starts_with("onnx/"), "{plain}");
    assert_eq!(
        said(&|folder| {
            fs::remove_file(folder.join("model.onnx")).unwrap();
            fs::remove_file(folder.join("tokenizer.json")).unwrap();
        }),
        "DIR: not a model folder: there is no model.onnx, onnx/model.onnx or other .onnx file; \
         there is no tokenizer.json"
    );
    let cut = |file: &'static str, bytes: usize| {
        said(&move |folder| {
            let path = folder.join(file);
            let whole = fs::read(&path).unwrap();
            fs::write(path, &whole[..bytes]).unwrap();
        })
    };
    for bytes in [0, 1, 1_000, 20_000_000] {
        let error = cut("model.onnx", bytes);
        assert!(error.starts_with("DIR/model.onnx: no model that can be run: "), "{error}");
    }
    assert!(cut("tokenizer.json", 1_000).starts_with("DIR/tokenizer.json: not JSON: EOF while parsing"));
    let error = said(&|folder| fs::write(folder.join("tokenizer.json"), "{}").unwrap());
    assert!(error.contains("tokenizer.json"), "{error}");
    // What fastembed insists on has defaults.
    let bare = said(&|folder| {
        fs::write(folder.join("tokenizer_config.json"), "{}").unwrap();
        fs::remove_file(folder.join("config.json")).unwrap();
    });
    assert_eq!(bare, plain);
    let missing = FastEmbedder::local("/no/such/folder");
    assert!(missing.unwrap_err().to_string().starts_with("/no/such/folder: not a model folder: "));
}

/// A library that cannot be loaded, each in a process of its own: one that was loaded stays.
#[test]
fn a_missing_runtime_is_an_error_that_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let no_library = folder.path().join("libonnxruntime.so");
    fs::write(&no_library, "no library").unwrap();
    let no_file = folder.path().join("absent.so");
    let mut runtimes = vec![(no_file, "No such file"), (no_library, "")];
    // One that is too old, where there is a compiler.
    let (source, old) = (folder.path().join("old.c"), folder.path().join("libold.so"));
    fs::write(
        &source,
        "struct base { void *api; const char *(*version)(void); };\n\
         static const char *version(void) { return \"1.17.0\"; }\n\
         static struct base base = {0, version};\n\
         struct base *OrtGetApiBase(void) { return &base; }\n",
    )
    .unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&old).arg(&source).status();
    match compiled {
        Ok(status) if status.success() => runtimes.push((old, "got '1.17.0'")),
        _ => println!("no compiler: not tried with a library that is too old"),
    }
    for (path, why) in runtimes {
        for variable in ["ORT_DYLIB_PATH", "PROEM_TEST_RUNTIME"] {
            let child = Command::new(env::current_exe().unwrap())
                .args(["--exact", "fastembed::child", "--ignored", "--nocapture"])
                .env_remove("ORT_DYLIB_PATH")
                .env(variable, &path)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&child.stdout).into_owned();
            assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
            assert!(said.contains(&format!("{}: ONNX Runtime cannot be loaded (", path.display())), "{said}");
            assert!(
                said.contains(why) && said.contains("version 1.24 or later") && said.contains("Python package"),
                "{said}"
            );
        }
    }
}

#[test]
#[ignore = "started by the test above"]
fn child() {
    let model = OnnxModel::folder(overlap());
    let model = match env::var_os("PROEM_TEST_RUNTIME") {
        Some(path) => model.with_runtime(PathBuf::from(path)),
        None => model,
    };
    println!("{}", FastReranker::new(&model).unwrap_err());
    println!("{}", FastEmbedder::builder(model).build().unwrap_err());
}

const WEATHER: &str = "The weather of tomorrow in a city";

fn shop(reranker: FastReranker) -> Host {
    let client = MemoryClient::new()
        .with_tool("forecast", WEATHER)
        .with_tool("pay", "Take a payment for an order, tomorrow")
        .with_tool("undo", "A refund of a payment to a customer");
    Host::builder().server("shop", client).reranker(reranker).build().unwrap()
}

#[tokio::test]
async fn a_cross_encoder_orders_the_best_hits_again() {
    let Some(model) = model(overlap()) else { return };
    let reranker = FastReranker::new(&model).unwrap();
    assert_eq!((reranker.name(), reranker.depth()), ("overlap", 20));
    let query = "refund the payment of a customer tomorrow";
    let host = shop(reranker);
    host.refresh().await;
    let context = host.session().turn(query).build().await.unwrap();
    assert!(context.notes().is_empty(), "{:?}", context.notes());
    let order: Vec<_> = context.selection().tools.iter().map(|tool| tool.id.name.to_string()).collect();
    assert_eq!(order[0], "undo", "{order:?}");
}

#[tokio::test]
async fn scores_are_those_of_each_pair_alone() {
    let Some(model) = model(overlap()) else { return };
    let reranker = FastReranker::new(&model).unwrap();
    let texts = ["money", "refund of the order", "weather", "a refund, a payment", "refund order money", ""];
    let candidates = candidates(&texts);
    let order = reranker.rerank(&Query::new("refund the order of money"), &candidates).await.unwrap();
    assert_eq!(order, [4, 1, 0, 3, 2, 5], "equal ones stay in their order");
    let order = reranker.rerank(&Query::new(""), &candidates).await.unwrap();
    assert_eq!(order, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn without_a_runtime_of_tokio_it_fails_and_does_not_panic() {
    let Some(model) = model(overlap()) else { return };
    let reranker = FastReranker::new(&model).unwrap();
    let (query, candidates) = (Query::new("refund"), candidates(&["a", "b"]));
    let answer = futures_util::FutureExt::now_or_never(reranker.rerank(&query, &candidates));
    assert!(answer.unwrap().unwrap_err().to_string().contains("no reactor running"));
}

/// A runtime that is dropped waits for what still runs on its threads.
#[test]
fn it_stops_when_nobody_waits() {
    let Some(model) = model(overlap()) else { return };
    let reranker = FastReranker::new(&model).unwrap();
    let query = Query::new("refund the payment");
    let all = candidates(&vec!["a refund of the payment"; 20_000]);
    let took = |count: usize, patience: Duration| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let started = Instant::now();
        let answer = runtime.block_on(async { timeout(patience, reranker.rerank(&query, &all[..count])).await });
        drop(runtime);
        (answer.is_ok(), started.elapsed())
    };
    let (answered, of_some) = took(200, Duration::from_secs(60));
    assert!(answered);
    let (answered, of_all) = took(20_000, of_some / 10);
    assert!(!answered && of_all < of_some * 50, "{of_all:?} for all, {of_some:?} for a hundredth of them");
}

/// A model without an output of scores.
#[tokio::test]
async fn a_model_of_another_kind_costs_the_reranking_alone() {
    let (Some(folder), Some(library)) = (mini_lm(), library()) else { return };
    let reranker = FastReranker::new(&OnnxModel::folder(folder).with_runtime(library)).unwrap();
    let host = shop(reranker);
    host.refresh().await;
    let context = host.session().turn("refund the payment of a customer tomorrow").build().await.unwrap();
    assert!(!context.selection().tools.is_empty());
    let expected = "reranker all-MiniLM-L6-v2: Output tensor 'logits' not found; the ranking stays as it is";
    assert_eq!(context.notes(), [expected]);
}

fn candidates(texts: &[&str]) -> Vec<Candidate> {
    let server = ServerId::new("s").unwrap();
    let hit = |at: usize| Hit::new(ToolId::new(server.clone(), format!("t{at}")), 1.0, at + 1);
    (0..).zip(texts).map(|(at, text)| Candidate::new(hit(at), *text)).collect()
}
