//! The rules that recognize a fault, for bodies, stream events and gRPC.

use self::RuleFor::{
    Aws, Envelope, Generic, Limit, Misnomer, Name, Number, Period, Rolling, Text, Whole,
};
use super::fault::Fault::{
    self, Billing, Filtered, Internal, Invalid, Overloaded, Throttled, Timeout, TooLong,
};

/// The part of an error that a rule's words must match. Both are compared in the form that `words` returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleFor {
    /// A whole code, type, status or reason. A `*` at either end matches anything.
    Name,
    /// Like `Name`, for a word that services also use for their own data.
    Generic,
    /// Like `Name`, for a code in one of AWS's formats: `__type`, the header `x-amzn-errortype`, or `<Code>`.
    Aws,
    /// A whole `code` that is a number, from a service with numbered errors, in a response with this status or in an
    /// event. Other services use the same numbers for other errors.
    Number(u16),
    /// Like `Name`, for names that gateways give to any error they pass on: every other name wins, and so does a quoted
    /// error.
    Envelope,
    /// Like `Name`, for a whole text in which a client or a gateway reports a broken connection to the server.
    Whole,
    /// A text next to a billing name, from services that also use the name for a per-minute limit.
    Misnomer,
    /// A text in any response that doesn't name a failure of the server.
    Text,
    /// A text in a throttled response, or the name of the exceeded quota.
    Limit,
    /// Like `Limit`, for one word that names a period: on its own, or before something that is limited (`LIMITED`). In
    /// `events-daily` it is part of another name.
    Period,
    /// Like `Limit`, for a day without a fixed start: if the text contains a wait below an hour, the request is only
    /// throttled.
    Rolling,
}

/// The kind of rule, the words, the fault and the source. Bars separate alternatives.
pub(super) type Rule = (RuleFor, &'static str, Fault, &'static str);

/// The first rule that matches decides, so billing rules come before other texts. To support another response, add
/// words or a row.
#[rustfmt::skip] // One rule per line.
pub(super) const RULES: &[Rule] = &[
    // Money, and limits that no wait within a call fixes.
    (Name, "insufficient quota|credit balance exhausted", Billing, "OpenAI, Error codes"),
    (Name, "billing not active|billing hard limit reached", Billing, "OpenAI, Error codes"),
    (Name, "*spend limit exceeded|*usage limit exceeded", Billing, "OpenAI, Error codes"),
    (Name, "usage limit reached|usage not included", Billing, "OpenAI, Codex"),
    (Name, "account quota exceeded|account overdue error", Billing, "Volcengine, router-for-me/CLIProxyAPI#5978"),
    (Name, "billing error|enforced spend limit reached", Billing, "Anthropic, Errors"),
    (Name, "* billing limit exceeded", Billing, "Airtable, Managing API call limits"),
    (Name, "budget exceeded", Billing, "LiteLLM, Budgets"),
    (Name, "exceeded current quota error", Billing, "Moonshot, Error codes"),
    (Name, "insufficient balance*", Billing, "DeepSeek, Error codes; MiniMax, modelscope/modelscope#1691"),
    (Name, "insufficient credits", Billing, "OpenRouter, Errors"),
    (Name, "quota limited", Billing, "Brave Search API, Rate limiting"),
    (Name, "* free usage exhausted", Billing, "xAI, Grok CLI"),
    (Name, "payment required", Billing, "RFC 9110, 15.5.3"),
    (Name, "service quota exceeded exception", Billing, "Bedrock, Common errors"),
    (Name, "arrearage|*paid bill overdue|commodity not purchased", Billing, "DashScope, Error codes"),
    (Name, "allocation quota free tier only", Billing, "DashScope, Error codes"),
    (Number(429), "1112|1121", Billing, "Zhipu, Error codes: the account is locked"),
    (Number(429), "1113|1309|1311|1313", Billing, "Zhipu, Error codes: arrears, the plan, fair use"),
    (Number(429), "1304|1308|1310", Billing, "Zhipu, Error codes: limits of a day, the plan, a week"),
    (Name, "daily limit exceeded", Billing, "Google, Standard error responses"),
    (Text, "credit balance is too low", Billing, "Anthropic, Errors"),
    (Text, "reached your specified api usage limits", Billing, "anthropics/claude-code#2127"),
    (Text, "usage is required for long context", Billing, "anthropics/claude-code#33514"),
    (Text, "credits are required for long context", Billing, "anthropics/claude-code#64982"),
    (Text, "out of extra usage", Billing, "anthropics/claude-code#22603"),
    (Text, "usage limit reached", Billing, "OpenAI, Codex; Anthropic, Claude Code"),
    (Text, "session usage limit", Billing, "Ollama, continuedev/continue#11444"),
    (Text, "usage limit for this billing cycle", Billing, "Moonshot, NanmiCoder/cc-haha#1208"),
    (Text, "administrator to enable overages", Billing, "google-gemini/gemini-cli#27761"),
    (Text, "insufficient balance|account balance is insufficient", Billing, "DeepSeek, Zhipu, SiliconFlow"),
    (Text, "insufficient account balance", Billing, "Wei-Shaw/sub2api#890"),
    (Text, "insufficient credits|insufficient credit|requires more credits", Billing, "OpenRouter, Errors"),
    (Text, "manage it using https openrouter ai", Billing, "OpenRouter, Errors: a key's limit"),
    (Text, "insufficient funds", Billing, "Vercel, kuangquanshuisn/blink2api#1"),
    (Text, "more credits are required", Billing, "tailcallhq/forgecode#571"),
    (Text, "no credits remaining|billing hard limit", Billing, "OpenAI, Error codes"),
    (Text, "budget has been exceeded", Billing, "LiteLLM, Budgets"),
    (Text, "account has run out of", Billing, "SerpApi, serpapi/serpapi-python#16"),
    (Text, "requesting a higher access limit", Billing, "Yelp, Rate limiting"),
    (Text, "any credits yet|purchase more credits|used all available credits|out of credits", Billing, "xAI"),
    (Text, "monthly spending limit|spending limit reached|spend limit reached", Billing, "xAI, OpenAI, Anthropic"),
    (Text, "spending cap", Billing, "Google, AI Studio"),
    (Text, "monthly included credits", Billing, "Hugging Face, Inference Providers"),
    (Text, "credit limit exceeded", Billing, "Together, Error codes"),
    (Text, "please recharge", Billing, "Zhipu, Moonshot"),
    (Text, "account is in good standing|free quota has been exhausted", Billing, "DashScope, Error codes"),
    (Text, "free tier of the model has been exhausted", Billing, "DashScope, Error codes"),
    (Text, "database space exceeded", Billing, "etcd, Maintenance: Space quota"),
    // OpenAI's billing name, used for a per-minute limit.
    (Misnomer, "allocated quota exceeded", Throttled, "DashScope, openclaw/openclaw#148236"),
    (Misnomer, "error code token limit", Throttled, "DashScope, can1357/oh-my-pi#8496"),
    (Limit, "free models per min", Throttled, "OpenRouter, which names the day's limit next to it"),
    (Limit, "remaining limit 0", Throttled, "Finnhub, which counts what is left of the minute"),
    // A day that starts with its first request.
    (Rolling, "tokens per day|requests per day|images per day ipd", Billing, "OpenAI, Groq, Bedrock, Cerebras"),
    (Rolling, "audio seconds per day asd", Billing, "Groq, Rate limits"),
    (Rolling, "tpd|rpd", Billing, "Moonshot, Rate limits"),
    (Rolling, "24 hour period|24 hour window", Billing, "NewsAPI, plotly/dash-web-trader#6; xAI, Grok CLI"),
    (Limit, "per day", Billing, "Google, OpenRouter, Groq"),
    (Limit, "by day|per 86400s", Billing, "GitHub Models"),
    (Limit, "application day limit|member day limit", Billing, "LinkedIn, Rate limiting"),
    (Limit, "for the day", Billing, "Twelve Data, Errors"),
    (Limit, "rate limited day", Billing, "LocationIQ, Errors"),
    (Limit, "today s", Billing, "ModelScope"),
    (Limit, "per month|per week|calls month", Billing, "Google, Zhipu, Cohere"),
    (Limit, "current month|allowed for this month", Billing, "Pinecone, Database limits; Airtable"),
    (Limit, "limit 0|limit value 0|have a free quota tier", Billing, "Google, a model that is not in the free tier"),
    (Period, "daily|weekly|monthly", Billing, "Google, Anthropic, xAI, Mistral, Hugging Face"),
    // Prompts that are too long. gRPC reports them as RESOURCE_EXHAUSTED, some providers as a 429.
    (Name, "context length exceeded|string above max length", TooLong, "OpenAI, Error codes"),
    (Name, "request too large", TooLong, "Anthropic, Errors"),
    (Name, "exceed context size error", TooLong, "llama.cpp, server"),
    (Number(400), "1261", TooLong, "Zhipu, Error codes"),
    (Text, "must be reduced in order to run|reduce your message size", TooLong, "OpenAI, Groq: above a minute's limit"),
    (Text, "maximum context length", TooLong, "OpenAI, vLLM, DeepSeek, Mistral, OpenRouter"),
    (Text, "reduce the length of the messages|exceeds the context window", TooLong, "OpenAI, Groq"),
    (Text, "prompt is too long|exceed context limit", TooLong, "Anthropic"),
    (Text, "exceeds the maximum number of tokens", TooLong, "Google"),
    (Text, "maximum prompt length", TooLong, "xAI"),
    (Text, "input is too long", TooLong, "Bedrock"),
    (Text, "longer than the model s context length", TooLong, "SGLang, BerriAI/litellm#10793"),
    (Text, "inputs tokens max new tokens must be|inputs must have less than", TooLong, "Hugging Face, TGI"),
    (Text, "available context size", TooLong, "llama.cpp, server"),
    (Text, "message larger than max|metadata size exceeds", TooLong, "gRPC, C++ and Go"),
    (Text, "message after decompression larger than max", TooLong, "gRPC, Go"),
    (Text, "message exceeds maximum size|message exceeds the maximum configured", TooLong, "gRPC, Java and .NET"),
    (Text, "message with a size larger than", TooLong, "gRPC, Node"),
    (Text, "message that decompresses to a size larger than", TooLong, "gRPC, Node"),
    (Text, "message length too large", TooLong, "tonic"),
    // Content that was blocked.
    (Name, "content filter|responsible aipolicy violation", Filtered, "Azure, Content filtering"),
    (Name, "content policy violation|moderation blocked|invalid prompt", Filtered, "OpenAI, Error codes; Images"),
    (Name, "data inspection failed", Filtered, "DashScope, Error codes"),
    (Number(400), "1301", Filtered, "Zhipu, Error codes"),
    (Text, "violating our usage policy|result of our safety system", Filtered, "OpenAI"),
    (Text, "content management policy", Filtered, "Azure"),
    (Text, "content filtering policy", Filtered, "Anthropic"),
    (Text, "content exists risk", Filtered, "DeepSeek"),
    // Too many requests at once.
    (Name, "rate limit|rate limit error|rate limit reached*", Throttled, "Anthropic, Stripe, Moonshot, GitHub Models"),
    (Name, "rate limited|ratelimited|rate limiting", Throttled, "Mistral; Linear; Slack; Azure, Resource Graph"),
    (Name, "*rate limit exceeded", Throttled, "OpenAI, Groq; Google, Standard error responses"),
    (Name, "model rate limit", Throttled, "Together"),
    (Name, "slow down", Throttled, "OpenAI, Error codes"),
    (Name, "too many requests*", Throttled, "RFC 6585, 4; Cerebras; AWS"),
    (Name, "token quota exceeded|request quota exceeded|queue exceeded", Throttled, "Cerebras, Errors"),
    (Name, "throttling*", Throttled, "Bedrock, Common errors; DashScope, Error codes"),
    (Name, "throttled|throttled exception", Throttled, "Shopify, Status and error codes; Azure Key Vault; AWS"),
    (Aws, "bandwidth limit exceeded|limit exceeded exception", Throttled, "AWS SDKs, Retry behavior"),
    (Aws, "request limit exceeded|prior request not complete", Throttled, "AWS SDKs, Retry behavior"),
    (Aws, "provisioned throughput exceeded exception", Throttled, "AWS SDKs, Retry behavior"),
    (Aws, "transaction in progress exception", Throttled, "AWS SDKs, Retry behavior"),
    (Aws, "*throttl*", Throttled, "AWS SDKs, Retry behavior; Alibaba Cloud, API throttling"),
    (Name, "limit requests|limit burst rate", Throttled, "DashScope, Error codes"),
    (Number(429), "1302|1303|1305|1312", Throttled, "Zhipu, Error codes: requests, traffic, the model's load"),
    (Name, "resource exhausted", Throttled, "google.rpc, code.proto"),
    (Name, "some resource has been exhausted", Throttled, "xAI"),
    (Name, "* apiinvocation limit exceeded", Throttled, "DocuSign, API resource limits"),
    (Name, "oauth exception 4|oauth exception 17|oauth exception 32", Throttled, "Meta, Graph API: apps, users, pages"),
    (Name, "oauth exception 613|oauth exception 8000*", Throttled, "Meta, Graph API: businesses, custom limits"),
    (Name, "oauth exception 80014", Throttled, "Meta, Graph API: a catalog's limit"),
    (Name, "oauth exception 130429|oauth exception 131056", Throttled, "WhatsApp, Error codes"),
    (Text, "rate limit exceeded|rate limit reached", Throttled, "OpenAI, Groq, gateways; GitHub, in a 403"),
    (Text, "tier is at capacity|model is at capacity|model is currently at capacity", Throttled, "laravel/ai#925"),
    (Text, "secondary rate limit|abuse detection", Throttled, "GitHub, in a 403"),
    (Text, "concurrent api requests limit exceeded", Throttled, "Salesforce, in a 403"),
    (Text, "too many requests", Throttled, "RFC 6585, 4"),
    (Text, "resource exhausted|resource has been exhausted", Throttled, "Google"),
    // The provider lacks capacity.
    (Name, "overloaded|overloaded error", Overloaded, "Anthropic, Errors; Hugging Face, TGI"),
    (Name, "server is overloaded|engine overloaded*", Overloaded, "OpenAI, Moonshot, Error codes"),
    (Name, "service unavailable*", Overloaded, "RFC 9110, 15.6.4; OpenAI, Bedrock"),
    (Name, "model not ready exception", Overloaded, "Bedrock, InvokeModel"),
    (Name, "oauth temporarily unavailable", Overloaded, "RFC 6749, 4.1.2.1"),
    (Generic, "unavailable|no capacity", Overloaded, "google.rpc, code.proto; Azure"),
    (Name, "capacity exceeded|service tier capacity exceeded", Overloaded, "Groq, Flex processing; Mistral"),
    (Number(429), "3505", Overloaded, "Mistral"),
    (Name, "maxlag", Overloaded, "MediaWiki, Manual:Maxlag parameter"),
    (Text, "overloaded", Overloaded, "Anthropic, Moonshot, Google"),
    // The provider failed.
    (Envelope, "api error|server error", Internal, "Anthropic, Errors; OpenAI, Error codes"),
    (Envelope, "internal error|internal server error", Internal, "DashScope, Error codes; RFC 9110, 15.6.1"),
    (Name, "internal server exception", Internal, "Bedrock, Common errors"),
    (Name, "internal failure", Internal, "AWS, Common errors"),
    (Name, "model stream error exception", Internal, "Bedrock, InvokeModelWithResponseStream"),
    (Aws, "idpcommunication error", Internal, "AWS STS, AssumeRoleWithWebIdentity"),
    (Aws, "*being deleted|account being created", Internal, "Azure Storage, Error codes"),
    (Aws, "operation aborted", Internal, "Amazon S3, Error responses: a conflicting operation in progress"),
    (Number(500), "1120|1234", Internal, "Zhipu, Error codes: the account can't be read, the network"),
    (Name, "internal", Internal, "google.rpc, code.proto"),
    (Text, "rst stream|http 2 error code internal error", Internal, "gRPC; java-spanner, IsRetryableInternalError"),
    (Text, "connection closed with unknown cause", Internal, "java-spanner, IsRetryableInternalError"),
    (Text, "unexpected eos on data frame", Internal, "java-spanner, IsRetryableInternalError"),
    (Text, "you can retry your request", Internal, "OpenAI, openai/codex#38000"),
    (Text, "try your request again", Internal, "Bedrock, anthropics/anthropic-sdk-python#432"),
    (Whole, "transport error*|h2 protocol error*", Internal, "tonic, firestore-rs#179, restate#4165"),
    (Whole, "no healthy upstream*|upstream connect error*", Internal, "Envoy, Response flags"),
    (Whole, "stream removed|socket closed|error reading a body from connection*", Internal, "gRPC, C++; hyper"),
    (Whole, "*connection reset by peer*|*broken pipe*|*connection refused*", Internal, "POSIX, errno.h"),
    (Name, "timeout error", Timeout, "Anthropic, Errors"),
    (Name, "request timeout", Timeout, "RFC 9110, 15.5.9"),
    (Aws, "request timeout exception", Timeout, "AWS SDKs, Retry behavior"),
    (Name, "model timeout exception", Timeout, "Bedrock, InvokeModel"),
    (Name, "deadline exceeded", Timeout, "google.rpc, code.proto"),
    // The request is wrong or not allowed.
    (Envelope, "invalid request error", Invalid, "OpenAI, Anthropic"),
    (Name, "authentication error|permission error|not found error", Invalid, "Anthropic, Errors"),
    (Name, "invalid api key|model not found", Invalid, "OpenAI, Error codes"),
    (Name, "validation exception|access denied exception", Invalid, "Bedrock, Common errors"),
    (Name, "invalid argument|unauthenticated|permission denied|not found", Invalid, "google.rpc, code.proto"),
    (Name, "failed precondition|out of range|unimplemented", Invalid, "google.rpc, code.proto"),
];
