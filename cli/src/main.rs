//! The program `arpent`: what was typed becomes settings, settings become a crawl, its result is
//! published, and others are notified; or files are checked. Everything that crawls lives in the library [`crawler`].
//!
//! # Map
//! | file | question it answers |
//! | --- | --- |
//! | `args` | what was typed? |
//! | `settings` | what is meant, and where was it written? |
//! | `commands` | what is done, in which order? |
//! | `supervisor`, `signal` | what happens beside the work: progress, signals |
//! | `failure` | why did it end early, and which option helps? |
//! | `exit_code` | what does the parent process get? |
//! | `print`, `live`, `untrusted`, `whole_file` | what does it look like? |
//! | `log`, `log_line` | what does it look like for programs that collect logs? |
//! | `output` | the only file that writes to stdout and stderr |

mod args;
mod commands;
mod exit_code;
mod failure;
#[cfg(any(feature = "metrics", feature = "page"))]
mod http;
mod live;
mod log;
mod log_line;
mod output;
mod print;
mod settings;
mod signal;
mod supervisor;
mod untrusted;
mod whole_file;

use crawler::human;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    commands::run().into()
}
