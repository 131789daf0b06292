use super::{Dialect, node::Node, reader::Reader, segment::Segment};
use crate::{Error, Result, render::SectionKind};

use SectionKind::{Messages, System};

/// The segments of a body, and whether its messages hold pictures.
pub(super) fn read(body: Node<'_, '_>, dialect: Dialect) -> Result<(Vec<Segment>, bool)> {
    if !body.is_object() {
        return Err(Error::invalid("request body", "it is no object"));
    }
    let mut reader = Reader::default();
    match dialect {
        Dialect::Anthropic => anthropic(body, &mut reader),
        Dialect::OpenaiResponses => openai_responses(body, &mut reader),
        Dialect::OpenaiChat => openai_chat(body, &mut reader),
        Dialect::Gemini => gemini(body, &mut reader),
        Dialect::Bedrock => bedrock(body, &mut reader),
    }?;
    Ok(reader.finish())
}

fn anthropic(body: Node<'_, '_>, reader: &mut Reader) -> Result<()> {
    for (path, tool) in list(body, "tools", "tools")? {
        if is_deferred(tool) {
            reader.defer(tool);
        } else {
            reader.tool(path, tool);
        }
    }
    reader.blocks(System, "system", None, body.get("system"));
    let mut speaker = None;
    for (path, message) in list(body, "messages", "messages")? {
        // Neighbours of one role are one turn to the API.
        let role = role_of(message);
        reader.message(Messages, &path, role.clone().filter(|role| speaker.as_ref() != Some(role)), message, "content");
        speaker = role;
    }
    // Automatic caching: the API marks the last block by itself.
    if let Some(control) = body.get("cache_control") {
        reader.mark_last(control);
    }
    Ok(())
}

fn openai_responses(body: Node<'_, '_>, reader: &mut Reader) -> Result<()> {
    for (path, tool) in list(body, "tools", "tools")? {
        reader.tool(path, tool);
    }
    reader.blocks(System, "instructions", None, body.get("instructions"));
    if let Some(text) = body.get("input").filter(|input| input.is_string()) {
        reader.blocks(Messages, "input", Some("user".into()), Some(text));
        return Ok(());
    }
    openai_messages(list(body, "input", "input")?, reader);
    Ok(())
}

fn openai_chat(body: Node<'_, '_>, reader: &mut Reader) -> Result<()> {
    for (path, tool) in list(body, "tools", "tools")? {
        reader.tool(path, tool);
    }
    openai_messages(list(body, "messages", "messages")?, reader);
    Ok(())
}

/// What the system says before anyone else does is system text; later, it is part of the conversation.
fn openai_messages<'d, 'a: 'd>(messages: Vec<(String, Node<'d, 'a>)>, reader: &mut Reader) {
    let mut section = System;
    for (path, message) in messages {
        let role = role_of(message);
        if !matches!(role.as_deref(), Some("system" | "developer")) {
            section = Messages;
        }
        reader.message(section, &path, role, message, "content");
    }
}

fn gemini(body: Node<'_, '_>, reader: &mut Reader) -> Result<()> {
    for (path, tools) in list(body, "tools", "tools")? {
        for (key, value) in tools.fields() {
            let path = format!("{path}.{key}");
            if matches!(key, "functionDeclarations" | "function_declarations") {
                for (path, tool) in list(tools, key, &path)? {
                    reader.tool(path, tool);
                }
            } else {
                // One that the provider runs: its key is all the name that it has.
                reader.named_tool(path, key, value);
            }
        }
    }
    for key in ["systemInstruction", "system_instruction"] {
        if let Some(system) = body.get(key) {
            match system.get("parts") {
                Some(parts) => reader.blocks(System, &format!("{key}.parts"), None, Some(parts)),
                None => reader.blocks(System, key, None, Some(system)),
            }
        }
    }
    for (path, content) in list(body, "contents", "contents")? {
        reader.message(Messages, &path, Some(role_of(content).unwrap_or_else(|| "user".into())), content, "parts");
    }
    Ok(())
}

fn bedrock(body: Node<'_, '_>, reader: &mut Reader) -> Result<()> {
    if let Some(config) = body.get("toolConfig") {
        for (path, tool) in list(config, "tools", "toolConfig.tools")? {
            reader.tool(path, tool);
        }
    }
    reader.blocks(System, "system", None, body.get("system"));
    for (path, message) in list(body, "messages", "messages")? {
        reader.message(Messages, &path, role_of(message), message, "content");
    }
    Ok(())
}

/// The objects of a list with their paths; none if the key is absent.
fn list<'d, 'a>(of: Node<'d, 'a>, key: &str, path: &str) -> Result<Vec<(String, Node<'d, 'a>)>> {
    let Some(list) = of.get(key) else { return Ok(Vec::new()) };
    if !list.is_array() {
        return Err(Error::invalid("request body", format!("`{path}` is no list")));
    }
    let items = list.items().enumerate().map(|(i, item)| (format!("{path}[{i}]"), item));
    items
        .map(|(path, item)| match item.is_object() {
            true => Ok((path, item)),
            false => Err(Error::invalid("request body", format!("`{path}` is no object"))),
        })
        .collect()
}

fn role_of(message: Node<'_, '_>) -> Option<String> {
    message.get("role").and_then(Node::text).map(Into::into)
}

pub(super) fn is_deferred(tool: Node<'_, '_>) -> bool {
    tool.get("defer_loading").is_some_and(Node::is_true)
}
