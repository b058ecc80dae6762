//! The form that tables of packets have: types, writing, reading and text of each packet from one entry.

/// What a table entry makes of a code and a number of dwords.
pub(super) enum Found<P> {
    Packet(P),
    /// The packet is known and would have this many dwords.
    WrongLength(usize),
    Unknown,
}

/// Makes the types of a table of packets, and the enum of them all.
///
/// An entry is `CODE NAME Type [dwords on gfx9, 10, 11, 12] { field: type = place; }`. `or n` behind the dwords: a
/// shorter form that lacks the last ones exists. `data name` behind the fields: dwords follow. `counted place` behind
/// that: their number is in the packet, and not in an engine's header. `check function`: what field widths do not say.
macro_rules! packets {
    (
        $(#[$all_doc:meta])* enum $all:ident for $engine:ty;
        $(
            $(#[$doc:meta])*
            $code:literal $title:ident $name:ident $(<$lt:lifetime>)? [$($dwords:literal),*] $(or $short:literal)? {
                $($(#[$fdoc:meta])* $field:ident: $type:ty = $place:expr;)*
            }
            $(data $(#[$ddoc:meta])* $data:ident: $dtype:ty $(, counted $count:expr)?;)?
            $(check $check:path;)?
        )*
    ) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
            pub struct $name $(<$lt>)? {
                $($(#[$fdoc])* pub $field: $type,)*
                $($(#[$ddoc])* pub $data: $dtype,)?
            }

            impl $(<$lt>)? $name $(<$lt>)? {
                /// Name, as in the headers.
                pub const NAME: &'static str = stringify!($title);
                /// Opcode of PM4; header of SDMA without fields.
                pub const CODE: u32 = $code;
                /// Dwords on each generation without data behind the fields; 0 where the packet does not exist.
                pub const DWORDS: [usize; 4] = [$($dwords),*];
                const SHORTEST: usize = 0 $(+ $short)?;
                const DATA: &'static [&'static str] = &[$(stringify!($data))?];
            }

            impl $(<$lt>)? Encode for $name $(<$lt>)? {
                type Engine = $engine;

                fn name(&self) -> &'static str {
                    Self::NAME
                }

                fn code(&self) -> u32 {
                    Self::CODE
                }

                fn dwords(&self, gfx: Gfx) -> usize {
                    match Self::DWORDS[gfx as usize] {
                        0 => 0,
                        fixed => fixed $(+ self.$data.len())?,
                    }
                }

                fn fill(&self, gfx: Gfx, words: &mut [u32]) -> Result<(), Error> {
                    $($check(self, gfx)?;)?
                    $({
                        const PLACES: Places = $place;
                        PLACES.put(gfx, words, Value::raw(self.$field), stringify!($field))?;
                    })*
                    $(
                        $({
                            const PLACES: Places = $count;
                            PLACES.put(gfx, words, self.$data.len() as u64, stringify!($data))?;
                        })?
                        for (word, data) in words.iter_mut().skip(Self::DWORDS[gfx as usize]).zip(self.$data) {
                            *word = *data;
                        }
                    )?
                    let _ = (gfx, words);
                    Ok(())
                }
            }

            impl $(<$lt>)? Show for $name $(<$lt>)? {
                fn show(&self, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(Self::NAME)?;
                    $({
                        const PLACES: Places = $place;
                        if PLACES.on(gfx).width != 0 {
                            write!(f, " {}=", stringify!($field))?;
                            Value::show(self.$field, gfx, f)?;
                        }
                    })*
                    $(write!(f, " {}[{}]", stringify!($data), self.$data.len())?;)?
                    let _ = gfx;
                    Ok(())
                }

                fn explained(&self, gfx: Gfx, word: usize) -> u32 {
                    if !Self::DATA.is_empty() && word >= Self::DWORDS[gfx as usize] {
                        return u32::MAX;
                    }
                    let header = if word == 0 { <$engine>::header_mask(Self::CODE) } else { 0 };
                    header
                        $($(| { const PLACES: Places = $count; PLACES.on(gfx).mask(word) })?)?
                        $(| { const PLACES: Places = $place; PLACES.on(gfx).mask(word) })*
                }
            }
        )*

        $(#[$all_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $all<'a> {
            $(#[doc = concat!("`", stringify!($title), "`.")] $name($name $(<$lt>)?),)*
        }

        impl<'a> $all<'a> {
            /// Finds the packet that the first of `words` heads, in exactly these dwords.
            pub(super) fn find(gfx: Gfx, words: &'a [u32]) -> Found<Self> {
                let header = words.first().copied().unwrap_or(0);
                $(
                    let fixed = $name::DWORDS[gfx as usize];
                    if fixed != 0 && <$engine>::is($name::CODE, header) {
                        let fits = words.len() == fixed
                            || (!words.is_empty() && words.len() == $name::SHORTEST)
                            || (!$name::DATA.is_empty() && words.len() > fixed);
                        if !fits {
                            return Found::WrongLength(fixed);
                        }
                        return Found::Packet(Self::$name($name {
                            $($field: {
                                const PLACES: Places = $place;
                                Value::from_raw(PLACES.on(gfx).take(words))
                            },)*
                            $($data: words.get(fixed..).unwrap_or(&[]),)?
                        }));
                    }
                )*
                Found::Unknown
            }

            /// Dwords of the packet that `words` begins with, by its code and the count among its fields, if it has
            /// one: the whole packet of SDMA, a packet of PM4 without its data. `None` for packets that the generation
            /// does not have.
            pub fn declared(gfx: Gfx, words: &[u32]) -> Option<usize> {
                let header = words.first().copied().unwrap_or(0);
                $(
                    let fixed = $name::DWORDS[gfx as usize];
                    if fixed != 0 && <$engine>::is($name::CODE, header) {
                        return Some(fixed $($(+ {
                            const PLACES: Places = $count;
                            if words.len() < fixed { 0 } else { PLACES.on(gfx).take(words) as usize }
                        })?)?);
                    }
                )*
                None
            }
        }

        impl Encode for $all<'_> {
            type Engine = $engine;

            fn name(&self) -> &'static str {
                match self { $(Self::$name(packet) => packet.name(),)* }
            }

            fn code(&self) -> u32 {
                match self { $(Self::$name(packet) => packet.code(),)* }
            }

            fn dwords(&self, gfx: Gfx) -> usize {
                match self { $(Self::$name(packet) => packet.dwords(gfx),)* }
            }

            fn fill(&self, gfx: Gfx, words: &mut [u32]) -> Result<(), Error> {
                match self { $(Self::$name(packet) => packet.fill(gfx, words),)* }
            }
        }

        impl Show for $all<'_> {
            fn show(&self, gfx: Gfx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$name(packet) => packet.show(gfx, f),)* }
            }

            fn explained(&self, gfx: Gfx, word: usize) -> u32 {
                match self { $(Self::$name(packet) => packet.explained(gfx, word),)* }
            }
        }
    };
}
pub(super) use packets;
