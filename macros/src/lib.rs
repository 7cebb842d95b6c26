//! The attribute `#[interleave::test]`. Use it through the crate `interleave`.

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, ExprLit, Ident, ItemFn, Lit, Path, ReturnType, Token, parse_macro_input};

/// A test whose body is a model: `#[test]` with [`Builder::check`](../interleave/struct.Builder.html#method.check) around
/// the body.
///
/// ```ignore
/// #[interleave::test(preemptions = 2, max_duration = 10)]
/// fn nothing_is_lost() {
///     // runs once for each execution
/// }
/// ```
///
/// | argument | `Builder` |
/// |---|---|
/// | `preemptions = 2` | `preemption_bound` |
/// | `memory = "sc"`, `"rc11"` | `memory` |
/// | `strategy = "exhaustive"`, `"interleavings"`, `"random"` | `strategy` |
/// | `max_duration = 2.5` (seconds) | `max_duration` |
/// | `panics = "deliver"`, `"fail"` | `panics` |
/// | `stale_reads`, `max_executions`, `max_steps`, `spurious`, `spin_budget`, `seed`, `workers`, `stack_size`, `name` | the method of that name |
/// | `needs_cfg` | none: the test is ignored, and says why, unless it is built with `--cfg interleave` |
/// | `crate = path` | none: where `interleave` is, if it has another name |
///
/// Values are expressions. `memory`, `strategy`, `max_duration` and `panics` take the types of the methods as well.
/// `needs_cfg` is for models of code that imports its types from `sync_shims`: without the flag these are std's, and the model
/// would check nothing. Other attributes, such as `#[should_panic(expected = "interleave::deadlock")]`, stay.
///
/// # Errors
///
/// An argument that does not exist or comes twice, and a function that takes or returns something, is async or generic, do
/// not compile.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments with Punctuated::<Argument, Token![,]>::parse_terminated);
    let function = parse_macro_input!(item as ItemFn);
    expand(arguments, function).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// `name = value`, or a name alone.
struct Argument {
    name: Ident,
    value: Option<Expr>,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Argument> {
        // `crate` is a keyword.
        let name = input.call(<Ident as syn::ext::IdentExt>::parse_any)?;
        let value = input.parse::<Option<Token![=]>>()?.map(|_| input.parse()).transpose()?;
        Ok(Argument { name, value })
    }
}

/// Methods that have the name of their argument.
const SAME: [&str; 9] =
    ["stale_reads", "max_executions", "max_steps", "spurious", "spin_budget", "seed", "workers", "stack_size", "name"];
/// Those that are told apart.
const OWN: [&str; 7] = ["preemptions", "memory", "strategy", "max_duration", "panics", "needs_cfg", "crate"];

fn expand(arguments: Punctuated<Argument, Token![,]>, function: ItemFn) -> syn::Result<Tokens> {
    refuse(&function)?;
    let mut root: Path = syn::parse_quote!(::interleave);
    let mut needs_cfg = false;
    let mut seen: Vec<String> = Vec::new();
    for Argument { name, value } in &arguments {
        let text = name.to_string();
        if seen.contains(&text) {
            return Err(Error::new(name.span(), format!("`{text}` is given twice")));
        }
        match (text.as_str(), value) {
            ("needs_cfg", None) => needs_cfg = true,
            ("needs_cfg", Some(value)) => return Err(Error::new_spanned(value, "`needs_cfg` takes no value")),
            ("crate", Some(Expr::Path(path))) => root = path.path.clone(),
            ("crate", _) => return Err(Error::new(name.span(), "`crate` takes a path: `crate = other::name`")),
            (known, None) if SAME.contains(&known) || OWN.contains(&known) => {
                return Err(Error::new(name.span(), format!("`{text}` takes a value: `{text} = ...`")));
            }
            (unknown, None) => return Err(no_argument(name, unknown)),
            _ => {}
        }
        seen.push(text);
    }
    let calls = arguments.iter().filter(|argument| argument.name != "needs_cfg" && argument.name != "crate");
    let calls: Vec<Tokens> = calls.map(|argument| call(argument, &root)).collect::<syn::Result<_>>()?;
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let ignored = needs_cfg.then(|| {
        quote! { #[cfg_attr(not(interleave), ignore = "needs `--cfg interleave`: run it with `cargo interleave test`")] }
    });
    // The place of the model is that of the function's name.
    let check = quote_spanned! { sig.ident.span().resolved_at(Span::mixed_site()) => check };
    Ok(quote! {
        #[::core::prelude::v1::test]
        #ignored
        #(#attrs)*
        #vis #sig {
            #root::Builder::new() #(#calls)* .#check(|| #block);
        }
    })
}

/// The call of the builder for an argument with a value.
fn call(Argument { name, value }: &Argument, root: &Path) -> syn::Result<Tokens> {
    let text = name.to_string();
    let value = value.as_ref().expect("looked at before");
    let word = match value {
        Expr::Lit(ExprLit { lit: Lit::Str(word), .. }) => Some(word.value()),
        _ => None,
    };
    let choice = |of: &str, choices: &[(&str, &str)]| match &word {
        None => Ok(quote! { #value }),
        Some(word) => match choices.iter().find(|(known, _)| known == word) {
            Some((_, variant)) => {
                let (of, variant) = (Ident::new(of, Span::call_site()), Ident::new(variant, Span::call_site()));
                Ok(quote! { #root::#of::#variant })
            }
            None => {
                let known: Vec<String> = choices.iter().map(|(known, _)| format!("\"{known}\"")).collect();
                Err(Error::new_spanned(value, format!("`{text}` takes {}", known.join(", "))))
            }
        },
    };
    Ok(match text.as_str() {
        "preemptions" => quote! { .preemption_bound(#value) },
        "memory" => {
            let memory = choice("Memory", &[("sc", "Sc"), ("rc11", "Rc11")])?;
            quote! { .memory(#memory) }
        }
        "strategy" => {
            let all = [("exhaustive", "Exhaustive"), ("interleavings", "Interleavings"), ("random", "Random")];
            let strategy = choice("Strategy", &all)?;
            quote! { .strategy(#strategy) }
        }
        "panics" => {
            let panics = choice("Panics", &[("fail", "Fail"), ("deliver", "Deliver")])?;
            quote! { .panics(#panics) }
        }
        "max_duration" => match value {
            Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. }) => {
                quote! { .max_duration(::core::time::Duration::from_secs_f64(#value as f64)) }
            }
            _ => quote! { .max_duration(#value) },
        },
        same if SAME.contains(&same) => quote! { .#name(#value) },
        unknown => return Err(no_argument(name, unknown)),
    })
}

fn no_argument(name: &Ident, unknown: &str) -> Error {
    let mut known: Vec<&str> = SAME.iter().chain(&OWN).copied().collect();
    known.sort_unstable();
    Error::new(name.span(), format!("there is no argument `{unknown}`: there are {}", known.join(", ")))
}

/// What cannot be the body of a model.
fn refuse(function: &ItemFn) -> syn::Result<()> {
    let sig = &function.sig;
    let is_test = |attribute: &&Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test");
    if let Some(attribute) = function.attrs.iter().find(is_test) {
        return Err(Error::new_spanned(attribute, "`#[interleave::test]` makes it a test already: remove this one"));
    }
    if let Some(asyncness) = &sig.asyncness {
        return Err(Error::new_spanned(
            asyncness,
            "a model is not async: use `interleave::future::block_on` in its body",
        ));
    }
    if !sig.inputs.is_empty() {
        return Err(Error::new_spanned(&sig.inputs, "a model takes no arguments"));
    }
    if !sig.generics.params.is_empty() {
        return Err(Error::new_spanned(&sig.generics, "a model is not generic"));
    }
    if let ReturnType::Type(_, returned) = &sig.output {
        return Err(Error::new_spanned(returned, "a model returns nothing: panic where it fails"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use syn::parse::Parser;
    use syn::punctuated::Punctuated;

    use super::expand;

    fn expanded(arguments: &str, function: &str) -> Result<String, String> {
        let arguments = Punctuated::parse_terminated.parse_str(arguments).expect("arguments");
        let function = syn::parse_str(function).expect("a function");
        expand(arguments, function).map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_no_model_is_refused() {
        let refused = |function: &str| expanded("", function).expect_err("it is refused");
        assert_eq!(refused("fn f(n: u32) {}"), "a model takes no arguments");
        assert_eq!(refused("fn f<T>() {}"), "a model is not generic");
        assert_eq!(refused("fn f() -> u32 { 0 }"), "a model returns nothing: panic where it fails");
        assert_eq!(refused("async fn f() {}"), "a model is not async: use `interleave::future::block_on` in its body");
        assert_eq!(refused("#[test] fn f() {}"), "`#[interleave::test]` makes it a test already: remove this one");
    }

    #[test]
    fn arguments_that_cannot_be_used_are_named() {
        let refused = |arguments: &str| expanded(arguments, "fn f() {}").expect_err("it is refused");
        assert_eq!(refused("seed = 1, seed = 2"), "`seed` is given twice");
        assert_eq!(refused("seed"), "`seed` takes a value: `seed = ...`");
        assert_eq!(refused("needs_cfg = true"), "`needs_cfg` takes no value");
        assert_eq!(refused("memory = \"x86\""), "`memory` takes \"sc\", \"rc11\"");
        assert_eq!(refused("crate"), "`crate` takes a path: `crate = other::name`");
        assert_eq!(refused("preemption = 2").split(':').next(), Some("there is no argument `preemption`"));
        assert_eq!(refused("typo").split(':').next(), Some("there is no argument `typo`"));
    }

    #[test]
    fn the_crate_may_have_another_name() {
        let text = expanded("crate = checker, seed = 7", "fn f() { g(); }").expect("it is fine");
        assert!(text.contains("checker :: Builder :: new () . seed (7) . check (|| { g () ; })"), "{text}");
    }
}
