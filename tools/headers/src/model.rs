//! What the Rust source declares: the items of the contract, in source order.

use std::path::Path;

use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Expr, Ident, Item, LitInt, LitStr, Token, Type, Visibility, braced, parenthesized};

use crate::Error;

/// Everything that is declared.
#[derive(Default)]
pub struct Model {
    /// Types, constants and macros, by module of `src/abi`.
    pub sections: Vec<Section>,
    /// Exported functions, in the order of the modules of `src/ffi`.
    pub functions: Vec<syn::ItemFn>,
}

/// One module of `src/abi`.
pub struct Section {
    /// Name of the module.
    pub module: String,
    /// What it declares.
    pub items: Vec<Declared>,
}

/// One declaration.
pub struct Declared {
    /// Its name in Rust and in C.
    pub name: Ident,
    /// Documentation.
    pub docs: Docs,
    /// What `#[cfg_attr(c_header, ...)]` says about it.
    pub hints: Hints,
    /// What it is.
    pub kind: Kind,
}

/// Kinds of declarations.
pub enum Kind {
    /// `pub type`.
    Alias(Type),
    /// `#[repr(C)] pub struct`.
    Struct(Vec<Field>),
    /// `#[repr(C)] pub struct` with private contents, or of another interface.
    Opaque,
    /// `c_enum!`.
    Enum(Vec<Constant>),
    /// `bit_fields!`, with the integer behind it.
    Bits(Type, Vec<Range>),
    /// `pub const`, with its value.
    Const(Box<Expr>),
    /// `pub const` whose value is the call of a constructor, with its type and the arguments.
    Object(Box<Type>, Vec<Expr>),
    /// `pub const fn`, a macro with arguments in C.
    Macro(Vec<Ident>),
}

/// Field of a struct.
pub struct Field {
    pub name: Ident,
    pub docs: Docs,
    pub hints: Hints,
    pub ty: Type,
}

/// Constant of an enumeration.
pub struct Constant {
    pub name: Ident,
    pub docs: Docs,
    pub value: Expr,
}

/// One bit-field.
pub struct Range {
    pub name: Ident,
    pub docs: Docs,
    pub width: u32,
}

/// Lines of documentation, without the leading space.
pub type Docs = Vec<String>;

/// What C says in another way than Rust.
#[derive(Default)]
pub struct Hints {
    /// `c = "..."`: the declaration as C text, without name where a name follows.
    pub c: Option<String>,
    /// `tag = "..."`: the tag of the type where it is not `_` and the name; empty for none.
    pub tag: Option<String>,
    /// `keyword = "union"`: a union where Rust has a struct.
    pub keyword: Option<String>,
}

impl Hints {
    fn of(attrs: &[Attribute]) -> syn::Result<Self> {
        let mut hints = Self::default();
        for attr in attrs.iter().filter(|a| a.path().is_ident("cfg_attr")) {
            attr.parse_args_with(|input: ParseStream<'_>| {
                let condition: Ident = input.parse()?;
                if condition != "c_header" {
                    return input.parse::<proc_macro2::TokenStream>().map(drop);
                }
                while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
                    let key: Ident = input.parse()?;
                    input.parse::<Token![=]>()?;
                    let value = Some(input.parse::<LitStr>()?.value());
                    match key.to_string().as_str() {
                        "c" => hints.c = value,
                        "tag" => hints.tag = value,
                        "keyword" => hints.keyword = value,
                        _ => return Err(syn::Error::new(key.span(), "unknown hint")),
                    }
                }
                Ok(())
            })?;
        }
        Ok(hints)
    }
}

/// The documentation among `attrs`, as plain prose: without the marks of Rust's own links and code, and without the
/// notes on where a fact comes from.
pub fn docs(attrs: &[Attribute]) -> Docs {
    let mut lines = Docs::new();
    for attr in attrs.iter().filter(|a| a.path().is_ident("doc")) {
        if let syn::Meta::NameValue(pair) = &attr.meta
            && let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value
        {
            let text = text.value().replace("[`", "").replace("`]", "").replace('`', "");
            lines.extend(text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()));
        }
    }
    let prose = without_sources(&lines.join("\n"));
    prose.lines().map(str::to_owned).collect()
}

/// Removes every parenthesis that names a document.
fn without_sources(prose: &str) -> String {
    let mut out = String::new();
    let mut rest = prose;
    while let Some(start) = rest.find('(') {
        let (before, tail) = rest.split_at(start);
        let end = tail.find(')').map_or(tail.len(), |end| end + 1);
        let (aside, tail) = tail.split_at(end);
        if aside.contains(".md") {
            out += before.trim_end();
        } else {
            out += before;
            out += aside;
        }
        rest = tail;
    }
    out + rest
}

/// Body of `c_enum!` and of `bit_fields!`: `attributes name: integer { entries }`.
struct Word<T> {
    name: Ident,
    docs: Docs,
    hints: Hints,
    repr: Type,
    entries: Vec<T>,
}

impl<T: Parse> Parse for Word<T> {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let repr = input.parse()?;
        let body;
        braced!(body in input);
        let mut entries = Vec::new();
        while !body.is_empty() {
            entries.push(body.parse()?);
            body.parse::<Token![;]>()?;
        }
        Ok(Self { name, docs: docs(&attrs), hints: Hints::of(&attrs)?, repr, entries })
    }
}

impl Parse for Constant {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self { name, docs: docs(&attrs), value: input.parse()? })
    }
}

impl Parse for Range {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        input.parse::<LitInt>()?;
        input.parse::<Token![,]>()?;
        Ok(Self { name, docs: docs(&attrs), width: input.parse::<LitInt>()?.base10_parse()? })
    }
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

fn is_repr_c(attrs: &[Attribute]) -> bool {
    let mut found = false;
    for attr in attrs.iter().filter(|a| a.path().is_ident("repr")) {
        let parsed = attr.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("C");
            if meta.input.peek(syn::token::Paren) {
                let arguments;
                parenthesized!(arguments in meta.input);
                arguments.parse::<LitInt>()?;
            }
            Ok(())
        });
        found &= parsed.is_ok();
    }
    found
}

fn declared(name: &Ident, attrs: &[Attribute], kind: Kind) -> syn::Result<Declared> {
    Ok(Declared { name: name.clone(), docs: docs(attrs), hints: Hints::of(attrs)?, kind })
}

fn structure(item: &syn::ItemStruct) -> syn::Result<Kind> {
    let mut fields = Vec::new();
    for field in &item.fields {
        match &field.ident {
            Some(name) if is_public(&field.vis) => fields.push(Field {
                name: name.clone(),
                docs: docs(&field.attrs),
                hints: Hints::of(&field.attrs)?,
                ty: field.ty.clone(),
            }),
            _ => return Ok(Kind::Opaque),
        }
    }
    Ok(Kind::Struct(fields))
}

/// What one file of `src/abi` declares.
pub fn items(source: &str) -> syn::Result<Vec<Declared>> {
    let mut found = Vec::new();
    for item in syn::parse_file(source)?.items {
        match item {
            Item::Type(item) if is_public(&item.vis) => {
                found.push(declared(&item.ident, &item.attrs, Kind::Alias(*item.ty))?);
            }
            Item::Struct(item) if is_public(&item.vis) && is_repr_c(&item.attrs) => {
                found.push(declared(&item.ident, &item.attrs, structure(&item)?)?);
            }
            Item::Const(item) if is_public(&item.vis) => {
                let kind = match *item.expr {
                    Expr::Call(call) => Kind::Object(item.ty, call.args.into_iter().collect()),
                    value => Kind::Const(Box::new(value)),
                };
                found.push(declared(&item.ident, &item.attrs, kind)?);
            }
            Item::Fn(item) if is_public(&item.vis) => {
                let arguments = item.sig.inputs.iter().filter_map(|input| match input {
                    syn::FnArg::Typed(syn::PatType { pat, .. }) => match pat.as_ref() {
                        syn::Pat::Ident(pat) => Some(pat.ident.clone()),
                        _ => None,
                    },
                    syn::FnArg::Receiver(_) => None,
                });
                let found_macro = declared(&item.sig.ident, &item.attrs, Kind::Macro(arguments.collect()))?;
                if found_macro.hints.c.is_none() {
                    return Err(syn::Error::new(item.sig.ident.span(), "a function needs a hint `c = \"...\"`"));
                }
                found.push(found_macro);
            }
            Item::Macro(item) if item.mac.path.is_ident("c_enum") => {
                let Word { name, docs, hints, entries, .. } = item.mac.parse_body()?;
                found.push(Declared { name, docs, hints, kind: Kind::Enum(entries) });
            }
            Item::Macro(item) if item.mac.path.is_ident("bit_fields") => {
                let Word { name, docs, hints, repr, entries } = item.mac.parse_body()?;
                found.push(Declared { name, docs, hints, kind: Kind::Bits(repr, entries) });
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The functions inside `exports! { ... }` and `caller_exports! { ... }` of one file of `src/ffi`; the parameter that
/// names the caller is no part of a prototype.
pub fn exports(source: &str) -> syn::Result<Vec<syn::ItemFn>> {
    let all = |input: ParseStream<'_>| {
        let mut functions = Vec::new();
        while !input.is_empty() {
            functions.push(input.parse::<syn::ItemFn>()?);
        }
        Ok(functions)
    };
    let mut found = Vec::new();
    for item in syn::parse_file(source)?.items {
        if let Item::Macro(item) = item
            && (item.mac.path.is_ident("exports") || item.mac.path.is_ident("caller_exports"))
        {
            found.extend(Parser::parse2(all, item.mac.tokens)?);
        }
    }
    for function in &mut found {
        let inputs = std::mem::take(&mut function.sig.inputs);
        function.sig.inputs = inputs.into_iter().filter(|input| !is_caller(input)).collect();
    }
    Ok(found)
}

fn is_caller(input: &syn::FnArg) -> bool {
    matches!(input, syn::FnArg::Typed(typed) if matches!(&*typed.ty, syn::Type::Path(path) if path.path.is_ident("Caller")))
}

/// The modules of which a `mod.rs` re-exports everything with `pub use { a::*, b::* };`, in order.
fn reexported(source: &str) -> syn::Result<Vec<String>> {
    let mut modules = Vec::new();
    for item in syn::parse_file(source)?.items {
        if let Item::Use(item) = item
            && is_public(&item.vis)
            && let syn::UseTree::Group(group) = item.tree
        {
            modules.extend(group.items.into_iter().filter_map(|tree| match tree {
                syn::UseTree::Path(path) if matches!(*path.tree, syn::UseTree::Glob(_)) => Some(path.ident.to_string()),
                _ => None,
            }));
        }
    }
    Ok(modules)
}

/// The modules that a `mod.rs` declares without giving their contents, in order.
fn submodules(source: &str) -> syn::Result<Vec<String>> {
    let items = syn::parse_file(source)?.items.into_iter();
    Ok(items
        .filter_map(|item| match item {
            Item::Mod(item) if item.content.is_none() => Some(item.ident.to_string()),
            _ => None,
        })
        .collect())
}

fn read_file(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn at(path: &Path, error: &syn::Error) -> Error {
    let start = error.span().start();
    format!("{}:{}:{}: {error}", path.display(), start.line, start.column + 1).into()
}

/// Reads `src/abi` and `src/ffi` below `root`.
pub fn read(root: &Path) -> Result<Model, Error> {
    let mut model = Model::default();
    let abi = root.join("src/abi");
    let page = abi.join("mod.rs");
    for module in reexported(&read_file(&page)?).map_err(|error| at(&page, &error))? {
        let path = abi.join(format!("{module}.rs"));
        let items = items(&read_file(&path)?).map_err(|error| at(&path, &error))?;
        model.sections.push(Section { module, items });
    }
    let ffi = root.join("src/ffi");
    let page = ffi.join("mod.rs");
    if page.exists() {
        let source = read_file(&page)?;
        model.functions = exports(&source).map_err(|error| at(&page, &error))?;
        for module in submodules(&source).map_err(|error| at(&page, &error))? {
            let path = ffi.join(format!("{module}.rs"));
            if path.exists() {
                model.functions.extend(exports(&read_file(&path)?).map_err(|error| at(&path, &error))?);
            }
        }
    }
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_on_sources_are_dropped() {
        assert_eq!(without_sources("A (kfd.md 2.4, x). B (see C)\n(abi/history.md)."), "A. B (see C).");
        assert_eq!(without_sources("open ( end"), "open ( end");
    }
}
