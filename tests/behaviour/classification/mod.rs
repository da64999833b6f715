//! Which errors are worth a retry, without any client: statuses and headers, I/O, causes within others.

mod causes;
mod http;
mod io;
mod on_helpers;
