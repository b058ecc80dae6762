//! The C headers: what `cbindgen` prints, with the parts that it cannot express put in.

use std::fmt::Write as _;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, Type};

use crate::Error;
use crate::model::{Constant, Declared, Field, Kind, Model, Range};

/// How `cbindgen` starts every struct.
const ANONYMOUS: &str = "typedef struct {";

/// What `cbindgen` reads instead of the source, and what its output must be searched for.
#[derive(Default)]
struct Pass {
    source: TokenStream,
    names: Vec<String>,
    replacements: Vec<(String, String)>,
    /// Name of a struct, and how its declaration starts.
    heads: Vec<(String, String)>,
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

/// A literal of the source as C: without spaces and digit separators.
fn literal(value: &Expr) -> String {
    text(value).replace([' ', '_'], "")
}

fn doc_comment(docs: &[String], indent: &str) -> String {
    let mut out = String::new();
    match docs {
        [] => {}
        [line] => out += &format!("{indent}/** {line} */\n"),
        lines => {
            out += &format!("{indent}/**\n");
            for line in lines {
                out += format!("{indent} * {line}").trim_end();
                out += "\n";
            }
            out += &format!("{indent} */\n");
        }
    }
    out
}

/// Puts comments of one line of prose on one line.
fn short_comments(source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut out = String::new();
    let mut rest = lines.as_slice();
    while let Some((line, tail)) = rest.split_first() {
        if let [prose, end, beyond @ ..] = tail
            && line.trim() == "/**"
            && end.trim() == "*/"
        {
            out += &format!("{} {} */\n", line, prose.trim().trim_start_matches("* "));
            rest = beyond;
        } else {
            out += line.trim_end();
            out += "\n";
            rest = tail;
        }
    }
    out
}

fn doc_attributes(docs: &[String]) -> TokenStream {
    let lines = docs.iter().map(|line| format!(" {line}"));
    quote! { #(#[doc = #lines])* }
}

/// The C tag of a type: what its hint says, else its name without `_t`, else an underscore and its name.
fn tag(item: &Declared) -> String {
    let name = item.name.to_string();
    let usual = || name.strip_suffix("_t").map_or_else(|| format!("_{name}"), str::to_owned);
    item.hints.tag.clone().unwrap_or_else(usual)
}

fn enumeration(item: &Declared, constants: &[Constant]) -> String {
    let mut out = format!("typedef enum {} {{\n", tag(item));
    for constant in constants {
        out += &doc_comment(&constant.docs, "  ");
        out += &format!("  {} = {},\n", constant.name, literal(&constant.value));
    }
    out + &format!("}} {};", item.name)
}

/// Puts the bit-fields into the shape that the hint gives, one declaration on each line.
fn bit_fields(item: &Declared, word: &Type, ranges: &[Range]) -> String {
    let shape = item.hints.c.as_deref().unwrap_or("union { HSAuint32 Value; struct { $bits } ui32; }");
    let base = if text(word) == "HSAuint64" { "HSAuint64" } else { "unsigned int" };
    let mut bits = String::new();
    for range in ranges {
        for line in &range.docs {
            bits += &format!("/*{line}*/");
        }
        bits += &format!("{base} {} : {};", range.name, range.width);
    }
    let body = layout(&shape.replace("$bits", &bits), "");
    format!("typedef {} {};", body.trim_end(), item.name)
}

/// Breaks C declarations into lines and indents them.
fn layout(declarations: &str, indent: &str) -> String {
    let (mut out, mut line, mut depth) = (String::new(), String::new(), 0_usize);
    let mut flush = |line: &mut String, depth: usize| {
        if !line.trim().is_empty() {
            out += &format!("{indent}{}{}\n", "  ".repeat(depth), line.trim());
        }
        line.clear();
    };
    let mut chars = declarations.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut comment = String::new();
                while !comment.ends_with("*/") {
                    let Some(next) = chars.next() else { break };
                    comment.push(next);
                }
                let prose = comment.trim_end_matches("*/");
                line = format!("/** {prose} */");
                flush(&mut line, depth);
            }
            '{' => {
                line.push('{');
                flush(&mut line, depth);
                depth += 1;
            }
            '}' => {
                flush(&mut line, depth);
                depth = depth.saturating_sub(1);
                line.push('}');
            }
            ';' => {
                line.push(';');
                flush(&mut line, depth);
            }
            _ => line.push(c),
        }
    }
    flush(&mut line, depth);
    out
}

impl Pass {
    fn replace(&mut self, from: impl Into<String>, to: impl Into<String>) {
        self.replacements.push((from.into(), to.into()));
    }

    fn item(&mut self, item: &Declared) {
        let (name, docs) = (&item.name, doc_attributes(&item.docs));
        let c = item.hints.c.as_deref();
        match &item.kind {
            Kind::Alias(ty) => {
                if let Some(c) = c {
                    self.source.extend(quote! { #docs pub type #name = u8; });
                    self.replace(format!("typedef uint8_t {name};"), format!("typedef {c};"));
                } else {
                    self.source.extend(quote! { #docs pub type #name = #ty; });
                }
            }
            Kind::Struct(fields) => self.structure(item, fields),
            Kind::Opaque => {
                self.source.extend(quote! { #docs pub struct #name { hidden: u8 } });
                let foreign = c.map(|c| format!("{c};"));
                let own = || format!("typedef struct {} {name};", tag(item));
                self.replace(format!("typedef struct {name} {name};"), foreign.unwrap_or_else(own));
            }
            Kind::Enum(constants) => {
                self.source.extend(quote! { #docs #[repr(transparent)] pub struct #name(u8); });
                self.replace(format!("typedef uint8_t {name};"), enumeration(item, constants));
            }
            Kind::Bits(word, ranges) => {
                self.source.extend(quote! { #docs #[repr(transparent)] pub struct #name(u8); });
                self.replace(format!("typedef uint8_t {name};"), bit_fields(item, word, ranges));
            }
            Kind::Const(_) | Kind::Object(..) | Kind::Macro(_) => return,
        }
        self.names.push(name.to_string());
    }

    /// A struct keeps its fields; one that has another declaration in C gets a type that is easy to find again.
    fn structure(&mut self, item: &Declared, fields: &[Field]) {
        let (name, docs) = (&item.name, doc_attributes(&item.docs));
        let mut body = TokenStream::new();
        for field in fields {
            let (field_name, field_docs, ty) = (&field.name, doc_attributes(&field.docs), &field.ty);
            if let Some(c) = &field.hints.c {
                let marker = format_ident!("MARKER_{}_{}", name, field_name);
                let declaration = layout(&format!("{c};"), "  ");
                self.replace(format!("  {marker} {field_name};\n"), declaration);
                body.extend(quote! { #field_docs pub #field_name: #marker, });
            } else {
                body.extend(quote! { #field_docs pub #field_name: #ty, });
            }
        }
        self.source.extend(quote! { #docs #[repr(C)] pub struct #name { #body } });
        let head = format!("typedef {} {} {{", item.hints.keyword.as_deref().unwrap_or("struct"), tag(item));
        self.heads.push((name.to_string(), head.replace("  ", " ")));
    }

    fn function(&mut self, function: &syn::ItemFn) {
        let docs = doc_attributes(&crate::model::docs(&function.attrs));
        let (name, inputs) = (&function.sig.ident, &function.sig.inputs);
        let output = match &function.sig.output {
            syn::ReturnType::Default => quote! { -> HSAKMT_STATUS },
            given @ syn::ReturnType::Type(..) => given.to_token_stream(),
        };
        self.source.extend(quote! { #docs #[unsafe(no_mangle)] pub unsafe extern "C" fn #name(#inputs) #output {} });
    }

    /// Runs `cbindgen` and puts in what it could not print.
    fn run(self) -> Result<String, Error> {
        let mut file = tempfile::Builder::new().suffix(".rs").tempfile()?;
        std::io::Write::write_all(&mut file, self.source.to_string().as_bytes())?;
        let mut config = cbindgen::Config {
            language: cbindgen::Language::C,
            style: cbindgen::Style::Type,
            documentation_style: cbindgen::DocumentationStyle::Doxy,
            no_includes: true,
            line_length: 120,
            ..Default::default()
        };
        config.export.include = self.names;
        config.function.prefix = Some("HSAKMTAPI".into());
        config.function.args = cbindgen::Layout::Auto;
        let bindings = cbindgen::Builder::new().with_src(file.path()).with_config(config).generate()?;
        let mut out = Vec::new();
        bindings.write(&mut out);
        let mut out = String::from_utf8(out)?;
        let missing = |what: &str| Error::from(format!("cbindgen did not print `{}`", what.trim()));
        for (name, head) in self.heads {
            let end = out.find(&format!("\n}} {name};\n")).ok_or_else(|| missing(&name))?;
            let start = out[..end].rfind(ANONYMOUS).ok_or_else(|| missing(ANONYMOUS))?;
            out.replace_range(start..start + ANONYMOUS.len(), &head);
        }
        for (from, to) in self.replacements {
            if !out.contains(&from) {
                return Err(missing(&from));
            }
            out = out.replace(&from, &to);
        }
        Ok(short_comments(out.trim()))
    }
}

/// `#define` lines of constants and macros.
fn defines(items: &[Declared]) -> String {
    let mut out = String::new();
    for item in items {
        let (head, body) = match &item.kind {
            Kind::Const(value) => (item.name.to_string(), literal(value)),
            Kind::Macro(arguments) => {
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                (format!("{}({})", item.name, arguments.join(", ")), item.hints.c.clone().unwrap_or_default())
            }
            _ => continue,
        };
        let _ = writeln!(out, "{}#define {head} {body}", doc_comment(&item.docs, ""));
    }
    out
}

/// Constants of a struct type, from the arguments of their constructor.
fn objects(items: &[Declared]) -> String {
    let mut out = String::new();
    for item in items {
        if let Kind::Object(ty, arguments) = &item.kind {
            let arguments: Vec<String> = arguments.iter().map(literal).collect();
            let list = arguments.join(", ").replace('[', "{").replace(']', "}").replace(",0x", ", 0x");
            let docs = doc_comment(&item.docs, "");
            let _ = writeln!(out, "{docs}static const {} {} = {{{list}}};", text(ty), item.name);
        }
    }
    out
}

struct Header<'a> {
    guard: &'a str,
    about: &'a str,
    includes: &'a [&'a str],
    pack: bool,
}

/// Joins the parts of a header between its frame.
fn frame(header: &Header<'_>, parts: &[&str]) -> String {
    let Header { guard, about, includes, pack } = header;
    let mut out = format!(
        "/* SPDX-License-Identifier: MIT\n *\n * {about}\n * Written by tools/headers from src/abi and src/ffi; do not \
         edit.\n */\n#ifndef {guard}\n#define {guard}\n\n"
    );
    for include in *includes {
        let _ = writeln!(out, "#include {include}");
    }
    if !includes.is_empty() {
        out += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    }
    if *pack {
        out += "#pragma pack(push, 4)\n\n";
    }
    for part in parts.iter().filter(|part| !part.trim().is_empty()) {
        out += part.trim();
        out += "\n\n";
    }
    if *pack {
        out += "#pragma pack(pop)\n\n";
    }
    if !includes.is_empty() {
        out += "#ifdef __cplusplus\n}\n#endif\n\n";
    }
    out + &format!("#endif /* {guard} */\n")
}

fn all<'a>(model: &'a Model, wanted: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = &'a [Declared]> {
    model.sections.iter().filter(move |section| wanted(&section.module)).map(|section| section.items.as_slice())
}

/// Modules of `src/abi` that have a header of their own; all others are `hsakmttypes.h`.
const OWN_HEADER: [&str; 2] = ["smi", "version"];

/// Functions that `rocdxg_smi.h` declares start with this.
const SMI: &str = "rocdxg_smi_";

/// Starts of the names of functions that other projects' headers declare.
const FOREIGN: [&str; 2] = ["amdgpu_", "drm"];

/// `hsakmttypes.h`: every type of the thunk.
pub fn types(model: &Model) -> Result<String, Error> {
    let mut pass = Pass::default();
    let (mut macros, mut constants) = (String::new(), String::new());
    for items in all(model, |module| !OWN_HEADER.contains(&module)) {
        items.iter().for_each(|item| pass.item(item));
        macros += &defines(items);
        constants += &objects(items);
    }
    let header = Header {
        guard: "ROCDXG_HSAKMTTYPES_H",
        about: "Types of the thunk: layouts, flags and status codes.",
        includes: &["<stdbool.h>", "<stdint.h>"],
        pack: true,
    };
    let api = "/** Calling convention; nothing on Linux. */\n#ifndef HSAKMTAPI\n#define HSAKMTAPI\n#endif";
    Ok(frame(&header, &[api, &macros, &pass.run()?, &constants]))
}

/// `hsakmt.h`: the functions of the thunk.
pub fn functions(model: &Model) -> Result<String, Error> {
    let mut pass = Pass::default();
    for function in &model.functions {
        let name = function.sig.ident.to_string();
        if !name.starts_with(SMI) && !FOREIGN.iter().any(|start| name.starts_with(start)) {
            pass.function(function);
        }
    }
    let mut prototypes = pass.run()?;
    for item in all(model, |_| true).flatten() {
        if let (Kind::Opaque, Some(c)) = (&item.kind, &item.hints.c) {
            prototypes = prototypes.replace(&format!("{} *", item.name), &format!("{c} *"));
        }
    }
    let header = Header {
        guard: "ROCDXG_HSAKMT_H",
        about: "Functions of the thunk.",
        includes: &["\"hsakmttypes.h\""],
        pack: false,
    };
    Ok(frame(&header, &[&prototypes]))
}

/// `rocdxg_smi.h`: types and functions of telemetry.
pub fn smi(model: &Model) -> Result<String, Error> {
    let mut pass = Pass::default();
    let mut macros = String::new();
    for items in all(model, |module| module == "smi") {
        items.iter().for_each(|item| pass.item(item));
        macros += &defines(items);
    }
    for function in model.functions.iter().filter(|function| function.sig.ident.to_string().starts_with(SMI)) {
        pass.function(function);
    }
    let header = Header {
        guard: "ROCDXG_ROCDXG_SMI_H",
        about: "Telemetry of the GPUs behind librocdxg.",
        includes: &["\"hsakmttypes.h\""],
        pack: false,
    };
    Ok(frame(&header, &[&macros, &pass.run()?]))
}

/// `rocdxg_version.h`: the version of the library.
pub fn version(model: &Model) -> String {
    let macros: String = all(model, |module| module == "version").map(defines).collect();
    let header =
        Header { guard: "ROCDXG_ROCDXG_VERSION_H", about: "Version of librocdxg.", includes: &[], pack: false };
    frame(&header, &[&macros])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Section, exports, items};

    /// The header of types made from one module, without its frame.
    fn header_of(source: &str) -> String {
        let sections = vec![Section { module: "sample".into(), items: items(source).unwrap() }];
        types(&Model { sections, functions: Vec::new() }).unwrap()
    }

    #[test]
    fn prototypes_come_from_the_macro() {
        let functions = exports(
            r#"
            use crate::abi::*;
            exports! {
                /// Opens [`the device`] of `this` process.
                fn hsaKmtOpenKFD() { HSAKMT_STATUS_SUCCESS }

                /// Two
                /// lines.
                fn hsaKmtWait(Events: *mut *mut HsaEvent, Count: HSAuint32, All: bool, Age: *const u64) {
                    if All { x } else { y }
                }
                fn rocdxg_count(info: *mut c_void) -> c_int { 0 }
            }
            "#,
        );
        let text = super::functions(&Model { sections: Vec::new(), functions: functions.unwrap() }).unwrap();
        assert!(text.contains(
            "/** Opens the device of this process. */\nHSAKMTAPI HSAKMT_STATUS hsaKmtOpenKFD(void);\n\n/**\n * Two\n * \
             lines.\n */\nHSAKMTAPI HSAKMT_STATUS hsaKmtWait(HsaEvent **Events, HSAuint32 Count, bool All, const uint64_t \
             *Age);\n\nHSAKMTAPI int rocdxg_count(void *info);\n"
        ));
    }

    #[test]
    fn words_become_unions_of_the_given_shape() {
        let text = header_of(
            r#"
            bit_fields! { /** A word. */ Plain: HSAuint32 { /** First. */ A: 0, 1; Rest: 1, 31; } }
            bit_fields! { #[cfg_attr(c_header, c = "struct _T { struct { $bits } ui32; }")] Wide: HSAuint64 { B: 0, 64; } }
            "#,
        );
        assert!(text.contains(
            "/** A word. */\ntypedef union {\n  HSAuint32 Value;\n  struct {\n    /** First. */\n    unsigned int A : \
             1;\n    unsigned int Rest : 31;\n  } ui32;\n} Plain;\n"
        ));
        assert!(text.contains("typedef struct _T {\n  struct {\n    HSAuint64 B : 64;\n  } ui32;\n} Wide;\n"));
    }

    #[test]
    fn structs_take_their_hints() {
        let text = header_of(
            r#"
            #[repr(C, packed(4))]
            pub struct Plain { pub a: u32, pub b: [u8; SIZE] }
            #[repr(C, packed(4))]
            #[cfg_attr(c_header, tag = "", keyword = "union")]
            pub struct Hinted {
                /// Either.
                #[cfg_attr(c_header, c = "union { int x; void *y; }")]
                pub x: u64,
            }
            #[repr(C)]
            #[cfg_attr(c_header, c = "struct elsewhere")]
            pub struct elsewhere { hidden: [u8; 0] }
            pub struct NotC { pub a: u32 }
            "#,
        );
        assert!(text.contains("typedef struct _Plain {\n  uint32_t a;\n  uint8_t b[SIZE];\n} Plain;\n"));
        assert!(
            text.contains("typedef union {\n  /** Either. */\n  union {\n    int x;\n    void *y;\n  };\n} Hinted;\n")
        );
        assert!(text.contains("struct elsewhere;\n") && !text.contains("typedef struct elsewhere"));
        assert!(!text.contains("NotC"));
    }

    #[test]
    fn enumerations_and_constants_keep_their_literals() {
        let text = header_of(
            r#"
            c_enum! { #[cfg_attr(c_header, tag = "_E")] Kind: i64 { /** Low. */ LOW = -3; ALL = 0xffff_ffff; } }
            pub const LIMIT: u32 = 0x8000_0000;
            pub const NAME: HSA_UUID = uuid(0x01, 0x02, 0x03, [0x04, 0x05]);
            #[cfg_attr(c_header, c = "((i) - 1)")]
            pub const fn BEFORE(i: u32) -> u64 { 1 }
            const HIDDEN: u32 = 1;
            "#,
        );
        assert!(text.contains("typedef enum _E {\n  /** Low. */\n  LOW = -3,\n  ALL = 0xffffffff,\n} Kind;\n"));
        assert!(text.contains("#define LIMIT 0x80000000\n"));
        assert!(text.contains("static const HSA_UUID NAME = {0x01, 0x02, 0x03, {0x04, 0x05}};\n"));
        assert!(text.contains("#define BEFORE(i) ((i) - 1)\n"));
        assert!(!text.contains("HIDDEN"));
    }
}
