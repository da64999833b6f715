pub(crate) mod kind {
    pub(crate) use retry_classify::Kind;
}
