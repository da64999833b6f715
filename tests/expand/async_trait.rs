//! A method as `#[async_trait]` generates it: only the user's own block is repeated, and `self` in a key
//! gets its name from that block.

#[retry(policy = self.policy)]
fn complete<'life0, 'async_trait>(
    &'life0 mut self,
    prompt: String,
) -> ::core::pin::Pin<
    Box<dyn ::core::future::Future<Output = Result<Answer, ModelError>> + ::core::marker::Send + 'async_trait>,
>
where
    'life0: 'async_trait,
    Self: 'async_trait,
{
    Box::pin(async move {
        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<Result<Answer, ModelError>> {
            #[allow(unreachable_code)]
            return __ret;
        }
        let __self = self;
        let prompt = prompt;
        let __ret: Result<Answer, ModelError> = { __self.ask(&prompt).await };
        #[allow(unreachable_code)]
        __ret
    })
}
