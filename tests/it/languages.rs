//! Requests in other languages than English, with the embedding that ships, which knows English alone.

#![allow(clippy::unwrap_used, reason = "an index that cannot be built fails the test")]

use std::sync::Arc;

use proem::{
    catalog::Catalog,
    id::ServerId,
    index::StaticEmbedder,
    protocol::Tool,
    retrieval::{Filter, Hybrid, Lexical, Retriever, ToolIndex},
};

/// A tool with its description, and a request for it.
type Asked = (&'static str, &'static str, &'static str);

/// By language.
const TOOLS: [(&str, [Asked; 4]); 8] = [
    (
        "zh",
        [
            ("weather_query", "查询某个城市未来几天的天气预报", "明天上海的天气怎么样？"),
            ("send_mail", "给联系人发送一封电子邮件", "帮我写一封电子邮件发给王经理"),
            ("create_order", "为客户创建新的采购订单", "我要给客户新建一个采购订单"),
            ("translate", "把文本翻译成另一种语言", "请把这段话翻译成英语"),
        ],
    ),
    (
        "ja",
        [
            ("weather_query", "指定した都市の天気予報を調べる", "明日の東京の天気を教えて"),
            ("send_mail", "連絡先にメールを送信する", "田中さんにメールを送りたい"),
            ("create_order", "顧客の注文書を新しく作成する", "新しい注文書を作成してください"),
            ("book_room", "会議室を予約する", "午後三時に会議室を予約して"),
        ],
    ),
    (
        "ko",
        [
            ("weather_query", "도시의 일기 예보를 조회합니다", "내일 서울 일기 예보 알려줘"),
            ("send_mail", "연락처에 이메일을 보냅니다", "김 대리에게 이메일을 보내줘"),
            ("create_order", "고객의 새 주문서를 작성합니다", "새 주문서를 작성해 주세요"),
            ("book_room", "회의실을 예약합니다", "세 시에 회의실을 예약해줘"),
        ],
    ),
    (
        "th",
        [
            ("weather_query", "ดูพยากรณ์อากาศของเมือง", "พรุ่งนี้พยากรณ์อากาศเชียงใหม่เป็นอย่างไร"),
            ("send_mail", "ส่งอีเมลถึงผู้ติดต่อ", "ช่วยส่งอีเมลถึงหัวหน้า"),
            ("create_order", "สร้างใบสั่งซื้อใหม่ให้ลูกค้า", "อยากสร้างใบสั่งซื้อใหม่"),
            ("book_room", "จองห้องประชุม", "จองห้องประชุมตอนบ่าย"),
        ],
    ),
    (
        "ar",
        [
            ("weather_query", "عرض توقعات الطقس لمدينة معينة", "ما هو الطقس غدا في القاهرة؟"),
            ("send_mail", "إرسال رسالة بريد إلكتروني إلى شخص", "أريد إرسال بريد إلكتروني إلى المدير"),
            ("create_order", "إنشاء طلب شراء جديد للعميل", "إنشاء طلب شراء من فضلك"),
            ("book_room", "حجز قاعة اجتماعات", "حجز قاعة في الساعة الثالثة"),
        ],
    ),
    (
        "ru",
        [
            ("weather_query", "Показывает прогноз погоды для города", "какой прогноз погоды на завтра в Казани?"),
            ("send_mail", "Отправляет электронное письмо контакту", "отправь письмо начальнику"),
            ("create_order", "Создаёт новый заказ для клиента", "нужно создать заказ для клиента"),
            ("book_room", "Бронирует комнату для переговоров", "забронируй комнату на три часа"),
        ],
    ),
    (
        "pt",
        [
            (
                "weather_query",
                "Consulta a previsão do tempo de uma cidade",
                "qual é a previsão do tempo para amanhã em Lisboa?",
            ),
            (
                "send_mail",
                "Envia uma mensagem de correio a um contacto",
                "quero mandar uma mensagem de correio ao meu chefe",
            ),
            ("create_order", "Cria um novo pedido de compra para o cliente", "preciso de um novo pedido de compra"),
            ("book_room", "Reserva uma sala de reuniões", "reserva uma sala para as três horas"),
        ],
    ),
    (
        "de",
        [
            (
                "weather_query",
                "Zeigt die Wettervorhersage für eine Stadt",
                "wie ist die Wettervorhersage für Hamburg morgen?",
            ),
            ("send_mail", "Sendet eine Nachricht an einen Kontakt", "schreib meinem Chef eine Nachricht"),
            ("create_order", "Legt eine neue Bestellung für den Kunden an", "wir brauchen eine neue Bestellung"),
            ("book_room", "Bucht einen Besprechungsraum", "ich brauche einen Besprechungsraum um drei"),
        ],
    ),
];

fn catalog(tools: &[(&str, &str, &str)]) -> Catalog {
    let server = ServerId::new("office").unwrap();
    tools
        .iter()
        .fold(Catalog::builder(), |builder, (name, about, _)| builder.tool(server.clone(), Tool::new(*name, *about)))
        .build()
}

fn hybrid(catalog: &Catalog) -> Arc<dyn ToolIndex> {
    Hybrid::new(StaticEmbedder::bundled()).index(catalog, None).unwrap()
}

fn names(index: &dyn ToolIndex, text: &str) -> Vec<String> {
    let ranking = index.search(&text.into(), &Filter::new(), 10).unwrap();
    ranking.hits.iter().map(|hit| hit.tool.name.to_string()).collect()
}

#[test]
fn a_request_finds_its_tool_in_its_own_language() {
    for (language, tools) in &TOOLS {
        let index = hybrid(&catalog(tools));
        for (name, _, request) in tools {
            assert_eq!(names(&*index, request).first().map(String::as_str), Some(*name), "{language}: {request}");
        }
    }
}

/// An embedder that knows no word of the request must not outvote the words that meet.
#[test]
fn against_english_tools_it_is_never_worse_than_words_alone() {
    let english = catalog(&[
        ("weather_query", "The weather forecast of a city for the coming days", ""),
        ("send_mail", "Send an e-mail to a contact", ""),
        ("create_order", "Create a purchase order for a client", ""),
        ("book_room", "Reserve a meeting room", ""),
        ("translate", "Translate a text into another language", ""),
    ]);
    let (words, both) = (Lexical::new().index(&english, None).unwrap(), hybrid(&english));
    let with_names = [
        "请用 create_order 新建",
        "какой weather forecast на завтра?",
        "reservar meeting room às três",
        "会議 room を予約",
    ];
    let requests = TOOLS.iter().flat_map(|(_, tools)| tools.map(|(.., request)| request));
    for request in requests {
        assert_eq!(names(&*both, request), names(&*words, request), "{request}");
    }
    // With English words among others, vectors may add tools, after those that the words found.
    for request in with_names {
        let expected = names(&*words, request);
        assert!(!expected.is_empty(), "{request}");
        assert_eq!(names(&*both, request)[..expected.len()], expected, "{request}");
    }
}
