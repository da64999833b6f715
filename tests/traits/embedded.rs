//! Device traits whose error type comes from a supertrait.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use embedded_hal::i2c::{self, AddressMode, NoAcknowledgeSource};
use embedded_hal::spi;
use embedded_nal_async::AddrType;
use embedded_storage::nor_flash::{self, NorFlashErrorKind, ReadNorFlash};
use embedded_storage_async::nor_flash as async_nor_flash;
use retry_runtime::retry;

use crate::Attempts;

#[derive(Clone, Debug, Default)]
struct Device(Attempts);

/// The outcome of a transaction.
type Outcome = Result<(), i2c::ErrorKind>;

mod hal {
    use super::*;

    const BUSY: i2c::ErrorKind = i2c::ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address);

    impl i2c::ErrorType for Device {
        type Error = i2c::ErrorKind;
    }

    impl i2c::I2c for Device {
        fn transaction(&mut self, address: u8, operations: &mut [i2c::Operation<'_>]) -> Outcome {
            for operation in operations {
                if let i2c::Operation::Read(read) = operation {
                    read.fill(address);
                }
            }
            self.0.make((), BUSY)
        }
    }

    impl spi::ErrorType for Device {
        type Error = spi::ErrorKind;
    }

    impl spi::SpiDevice for Device {
        fn transaction(
            &mut self,
            operations: &mut [spi::Operation<'_, u8>],
        ) -> Result<(), spi::ErrorKind> {
            assert_eq!(operations.len(), 1);
            self.0.make((), spi::ErrorKind::Overrun)
        }
    }

    #[retry(wrapper = RetryI2c<C>, of = i2c::I2c, max = 3, backoff = "none", on = |_| true)]
    trait I2c<A: AddressMode + Copy> {
        fn read(&mut self, address: A, read: &mut [u8]) -> Result<(), Self::Error>;
        fn write(&mut self, address: A, write: &[u8]) -> Result<(), Self::Error>;
        fn write_read(
            &mut self,
            address: A,
            write: &[u8],
            read: &mut [u8],
        ) -> Result<(), Self::Error>;
        fn transaction(
            &mut self,
            address: A,
            operations: &mut [i2c::Operation<'_>],
        ) -> Result<(), Self::Error>;
    }

    impl<C: i2c::ErrorType> i2c::ErrorType for RetryI2c<C> {
        type Error = C::Error;
    }

    #[retry(wrapper = RetrySpi<C>, of = spi::SpiDevice, max = 3, backoff = "none", on = |_| true)]
    trait SpiDevice<Word: Copy + 'static> {
        fn transaction(
            &mut self,
            operations: &mut [spi::Operation<'_, Word>],
        ) -> Result<(), Self::Error>;
        fn read(&mut self, buf: &mut [Word]) -> Result<(), Self::Error>;
        fn write(&mut self, buf: &[Word]) -> Result<(), Self::Error>;
        fn transfer(&mut self, read: &mut [Word], write: &[Word]) -> Result<(), Self::Error>;
        fn transfer_in_place(&mut self, buf: &mut [Word]) -> Result<(), Self::Error>;
    }

    impl<C: spi::ErrorType> spi::ErrorType for RetrySpi<C> {
        type Error = C::Error;
    }

    #[test]
    fn a_bus_and_a_device() {
        use i2c::I2c as _;
        use spi::SpiDevice as _;

        let mut bus = RetryI2c::new(Device::default());
        let mut read = [0; 2];
        assert_eq!(bus.read(7_u8, &mut read), Ok(()));
        assert_eq!((read, bus.inner().0.made()), ([7; 2], 3));
        assert_eq!(bus.write_read(8_u8, &[1], &mut read), Ok(()));
        assert_eq!((read, bus.inner().0.made()), ([8; 2], 3));
        assert_eq!(bus.transaction(9_u8, &mut []), Ok(()));
        assert_eq!(bus.inner().0.made(), 3);
        let mut device = RetrySpi::new(bus.into_inner());
        assert_eq!(device.write(&[1, 2]), Ok(()));
        assert_eq!(device.inner().0.made(), 3);
    }
}

mod hal_async {
    use embedded_hal_async::i2c as async_i2c;

    use super::*;

    impl async_i2c::I2c for Device {
        async fn transaction(&mut self, _: u8, operations: &mut [i2c::Operation<'_>]) -> Outcome {
            self.0.make((), i2c::ErrorKind::Bus)?;
            assert_eq!(operations.len(), 1);
            Ok(())
        }
    }

    #[retry(wrapper = RetryI2c<C>, of = async_i2c::I2c, max = 3, backoff = "none", on = |_| true)]
    trait I2c<A: AddressMode + Copy> {
        async fn read(&mut self, address: A, read: &mut [u8]) -> Result<(), Self::Error>;
        async fn write(&mut self, address: A, write: &[u8]) -> Result<(), Self::Error>;
        async fn write_read(
            &mut self,
            address: A,
            write: &[u8],
            read: &mut [u8],
        ) -> Result<(), Self::Error>;
        async fn transaction(
            &mut self,
            address: A,
            operations: &mut [i2c::Operation<'_>],
        ) -> Result<(), Self::Error>;
    }

    impl<C: i2c::ErrorType> i2c::ErrorType for RetryI2c<C> {
        type Error = C::Error;
    }

    #[tokio::test]
    async fn a_bus() {
        use async_i2c::I2c as _;

        let mut bus = RetryI2c::new(Device::default());
        assert_eq!(bus.read(7_u8, &mut [0]).await, Ok(()));
        assert_eq!(bus.inner().0.made(), 3);
    }
}

mod io {
    use embedded_io::{ErrorKind, ErrorType, ReadExactError};

    use super::*;

    impl ErrorType for Device {
        type Error = ErrorKind;
    }

    impl embedded_io::Read for Device {
        fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
            self.0.make((), ErrorKind::TimedOut)?;
            buf.fill(7);
            Ok(buf.len())
        }
    }

    impl embedded_io::Write for Device {
        fn write(&mut self, buf: &[u8]) -> Result<usize, ErrorKind> {
            self.0.make(buf.len(), ErrorKind::TimedOut)
        }

        fn flush(&mut self) -> Result<(), ErrorKind> {
            Ok(())
        }
    }

    impl embedded_io_async::Write for Device {
        async fn write(&mut self, buf: &[u8]) -> Result<usize, ErrorKind> {
            self.0.make(buf.len(), ErrorKind::TimedOut)
        }

        async fn flush(&mut self) -> Result<(), ErrorKind> {
            Ok(())
        }
    }

    #[retry(wrapper = RetryRead<C>, of = embedded_io::Read, max = 3, backoff = "none", on = |_| true)]
    trait Read {
        fn read(&mut self, buf: &mut [u8]) -> Result<usize, Self::Error>;
        /// Like the default body: each single read is retried. A retry of the whole would lose the bytes read before an
        /// error.
        #[retry(body, max = 0)]
        fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), ReadExactError<Self::Error>> {
            let mut rest = &mut *buf;
            while !rest.is_empty() {
                match self.read(rest).map_err(ReadExactError::Other)? {
                    0 => return Err(ReadExactError::UnexpectedEof),
                    read => rest = &mut rest[read..],
                }
            }
            Ok(())
        }
    }

    impl<C: ErrorType> ErrorType for RetryRead<C> {
        type Error = C::Error;
    }

    #[retry(wrapper = RetryWrite<C>, of = embedded_io::Write, max = 3, backoff = "none", on = |_| true)]
    #[allow(clippy::missing_trait_methods)]
    trait Write {
        fn write(&mut self, buf: &[u8]) -> Result<usize, Self::Error>;
        fn flush(&mut self) -> Result<(), Self::Error>;
    }

    impl<C: ErrorType> ErrorType for RetryWrite<C> {
        type Error = C::Error;
    }

    #[retry(wrapper = RetryAsyncWrite<C>, of = embedded_io_async::Write, max = 3, backoff = "none", on = |_| true)]
    #[allow(clippy::missing_trait_methods)]
    trait AsyncWrite {
        async fn write(&mut self, buf: &[u8]) -> Result<usize, Self::Error>;
        async fn flush(&mut self) -> Result<(), Self::Error>;
    }

    impl<C: ErrorType> ErrorType for RetryAsyncWrite<C> {
        type Error = C::Error;
    }

    #[test]
    fn reads_are_retried() {
        use embedded_io::Read as _;

        let mut port = RetryRead::new(Device::default());
        let mut read = [0; 2];
        assert_eq!(port.read(&mut read), Ok(2));
        assert_eq!((read, port.inner().0.made()), ([7; 2], 3));
        assert_eq!(port.read_exact(&mut read), Ok(()));
        assert_eq!(port.inner().0.made(), 3);
    }

    /// Uses the default bodies, which call the decorator's `write`.
    #[tokio::test]
    async fn writes_are_retried() {
        use embedded_io::Write as _;
        use embedded_io_async::Write as _;

        let mut port = RetryWrite::new(Device::default());
        assert_eq!(port.write_all(&[1, 2]), Ok(()));
        assert_eq!(port.inner().0.made(), 3);
        assert_eq!(port.write_fmt(format_args!("text")), Ok(()));
        let mut port = RetryAsyncWrite::new(port.into_inner());
        port.inner().0.made();
        assert_eq!(port.write_all(&[1, 2]).await, Ok(()));
        assert_eq!(port.inner().0.made(), 3);
    }
}

mod storage {
    use super::*;

    impl nor_flash::ErrorType for Device {
        type Error = NorFlashErrorKind;
    }

    impl ReadNorFlash for Device {
        const READ_SIZE: usize = 1;

        fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            self.0.make((), NorFlashErrorKind::Other)
        }

        fn capacity(&self) -> usize {
            64
        }
    }

    impl nor_flash::NorFlash for Device {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = 16;

        fn erase(&mut self, _: u32, _: u32) -> Result<(), NorFlashErrorKind> {
            self.0.make((), NorFlashErrorKind::Other)
        }

        fn write(&mut self, _: u32, _: &[u8]) -> Result<(), NorFlashErrorKind> {
            self.0.make((), NorFlashErrorKind::Other)
        }
    }

    impl async_nor_flash::ReadNorFlash for Device {
        const READ_SIZE: usize = 1;

        async fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            self.0.make((), NorFlashErrorKind::Other)
        }

        fn capacity(&self) -> usize {
            64
        }
    }

    #[retry(wrapper = RetryFlash<C>, of = nor_flash::NorFlash, max = 3, backoff = "none", on = |_| true)]
    trait NorFlash {
        const WRITE_SIZE: usize;
        const ERASE_SIZE: usize;
        fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error>;
        fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error>;
    }

    impl<C: nor_flash::ErrorType> nor_flash::ErrorType for RetryFlash<C> {
        type Error = C::Error;
    }

    impl<C: ReadNorFlash> ReadNorFlash for RetryFlash<C> {
        const READ_SIZE: usize = C::READ_SIZE;

        #[retry(max = 3, backoff = "none", on = |_| true)]
        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), C::Error> {
            self.inner_mut().read(offset, bytes)
        }

        fn capacity(&self) -> usize {
            self.inner().capacity()
        }
    }

    #[retry(wrapper = RetryReads<C>, of = async_nor_flash::ReadNorFlash, max = 3, backoff = "none", on = |_| true)]
    trait AsyncReadNorFlash {
        const READ_SIZE: usize;
        async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error>;
        fn capacity(&self) -> usize;
    }

    impl<C: nor_flash::ErrorType> nor_flash::ErrorType for RetryReads<C> {
        type Error = C::Error;
    }

    #[tokio::test]
    async fn flash() {
        use async_nor_flash::ReadNorFlash as _;
        use nor_flash::NorFlash as _;

        let mut flash = RetryFlash::new(Device::default());
        assert_eq!(flash.erase(0, 16), Ok(()));
        assert_eq!(flash.inner().0.made(), 3);
        assert_eq!(ReadNorFlash::read(&mut flash, 0, &mut []), Ok(()));
        assert_eq!(flash.inner().0.made(), 3);
        let mut flash = RetryReads::new(flash.into_inner());
        assert_eq!(flash.read(0, &mut []).await, Ok(()));
        assert_eq!(flash.inner().0.made(), 3);
    }
}

mod network {
    use embedded_io::ErrorKind;

    use super::*;

    struct Stack(Attempts);

    impl embedded_nal_async::Dns for Stack {
        type Error = &'static str;

        async fn get_host_by_name(&self, _: &str, _: AddrType) -> Result<IpAddr, &'static str> {
            self.0.make(Ipv4Addr::LOCALHOST.into(), "timed out")
        }

        async fn get_host_by_address(&self, _: IpAddr, _: &mut [u8]) -> Result<usize, Self::Error> {
            self.0.make(0, "timed out")
        }
    }

    /// A connection that borrows the stack.
    struct Connection<'a>(&'a Stack);

    impl embedded_io_async::ErrorType for Connection<'_> {
        type Error = ErrorKind;
    }

    impl embedded_io_async::Read for Connection<'_> {
        async fn read(&mut self, _: &mut [u8]) -> Result<usize, ErrorKind> {
            Ok(usize::try_from(self.0.0.made()).unwrap())
        }
    }

    impl embedded_io_async::Write for Connection<'_> {
        async fn write(&mut self, buf: &[u8]) -> Result<usize, ErrorKind> {
            Ok(buf.len())
        }

        async fn flush(&mut self) -> Result<(), ErrorKind> {
            Ok(())
        }
    }

    impl embedded_nal_async::TcpConnect for Stack {
        type Error = ErrorKind;
        type Connection<'a> = Connection<'a>;

        async fn connect(&self, _: SocketAddr) -> Result<Connection<'_>, ErrorKind> {
            self.0.make(Connection(self), ErrorKind::TimedOut)
        }
    }

    #[retry(wrapper = RetryDns, of = embedded_nal_async::Dns, max = 3, backoff = "none", on = |_| true)]
    trait Dns {
        type Error;
        async fn get_host_by_name(
            &self,
            host: &str,
            addr_type: AddrType,
        ) -> Result<IpAddr, Self::Error>;
        async fn get_host_by_address(
            &self,
            addr: IpAddr,
            result: &mut [u8],
        ) -> Result<usize, Self::Error>;
    }

    #[retry(wrapper = RetryTcp, of = embedded_nal_async::TcpConnect, max = 3, backoff = "none", on = |_| true)]
    trait TcpConnect {
        type Error;
        type Connection<'a>
        where
            Self: 'a;
        async fn connect<'a>(
            &'a self,
            remote: SocketAddr,
        ) -> Result<Self::Connection<'a>, Self::Error>;
    }

    #[tokio::test]
    async fn names_and_connections() {
        use embedded_io_async::Read as _;
        use embedded_nal_async::{Dns as _, TcpConnect as _};

        let stack = RetryDns::new(Stack(Attempts::default()));
        let address = stack
            .get_host_by_name("example.org", AddrType::Either)
            .await;
        assert_eq!(address, Ok(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(stack.inner().0.made(), 3);
        let stack = RetryTcp::new(stack.into_inner());
        let mut connection = stack.connect(([127, 0, 0, 1], 80).into()).await.unwrap();
        assert_eq!(connection.read(&mut []).await, Ok(3));
    }
}
