//! Classification without any client: statuses and headers, I/O, causes inside other errors.

mod causes;
mod http;
mod io;
mod on_helpers;
