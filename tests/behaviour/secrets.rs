//! The redaction of secrets in error texts.

use support::prelude::*;

use crate::shown::error_of;

/// Returns the text of the error in the log.
fn shown(error: &str) -> String {
    error_of!(String::from(error), String)
}

/// The text between `«` and `»` is redacted.
const HIDDEN: [&str; 100] = [
    // `key=value`.
    "login failed: password=«hunter2»",
    "host=db user=me password=«hunter2» dbname=x",
    "Server=db;User Id=me;Password=«hunter2»;Encrypt=yes",
    "Driver={ODBC};UID=me;PWD=«p4ss»;",
    "password='«it is long»' user=me",
    "passwd=«hunter2», retrying",
    "DB_PASSWORD=«hunter2»",
    "db.passphrase = «correct-horse» (from file)",
    "env: OPENAI_API_KEY=«abc-123» HOME=/root",
    "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG»",
    "AWS_SESSION_TOKEN=«FwoGZXIvYXdzE»",
    "client_secret=«abc»",
    "refresh_token=«abc» client_id=me",
    "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=«bWFkZSB1cA==»;EndpointSuffix=x",
    "Endpoint=sb://x/;SharedAccessKeyName=all;SharedAccessKey=«bWFkZSB1cA==»",
    "SharedAccessSignature sr=x sig=«abc%2Bdef1%3D» se=1",
    "_authToken=«npm-made-up»",
    "PHPSESSID=«abc123»",
    "user[password]=«hunter2»",
    "password1=«hunter2»",
    "password := «hunter2»",
    ":password=>\"«hunter2»\"",
    "signature=«0a1b2c3d4e5f»",
    "curl --password «hunter2» host",
    "tool --api-key=«abc»",
    "tool --token \"«abc def»\"",
    // `key: value`.
    "password: «hunter2»",
    "wrong Password: «swordfish» for bob",
    "api key: «abc-123»",
    "Incorrect API key: «abc-123».",
    "x-api-key: «abc123»",
    "Secret Key: «wJalr»",
    "token: «abc»",
    "**password**: «hunter2»",
    "password : «hunter2»",
    "private_key: «MIIEv»",
    "Ocp-Apim-Subscription-Key: «0123abcd»",
    "auth: «dXNlcjpwYXNz»",
    "Config { user: \"me\", password: \"«hunter2»\" }",
    "Config { api_key: Some(\"«abc»\"), url: None }",
    "Config { password: Password(\"«hunter2»\"), url: None }",
    "Login(Config { token: Some(Token(\"«abc def»\")) })",
    "Config { secret: Secret { value: \"«it is long»\" } }",
    "Key { secret: [«104, 117, 110»], id: 7 }",
    "Key { secret_key: Key([«104, 117, 110»]) }",
    "Key { token: Bytes { data: [«104, 117»] } }",
    "Key { secret: b\"«abc»\" }",
    r#"Object {"password": String("«hunter2»"), "user": String("me")}"#,
    r#"Object {"secret": Array [String("«abc»")]}"#,
    r#"{"password": {"value": "«hunter2»"}}"#,
    r#"{"token":"«482913»"}"#,
    "pwd=«P4ss(word)1»",
    // A sentence's cause.
    "refreshing the token: «abc123def» was refused",
    "loading the private key: \"«hunter»\"",
    // `"key":"value"`.
    r#"{"password":"«hunter2»","user":"me"}"#,
    r#"{"api_key": "«abc»", "model": "x"}"#,
    r#"{"apiKey":"«abc»"}"#,
    r#"{"access_token":"«abc»","token_type":"bearer"}"#,
    r#"{"id_token":"«abc»"}"#,
    r#"{"password":"«a\"b»","user":"me"}"#,
    r#""{\"password\":\"«hunter2»\",\"user\":\"me\"}""#,
    r#"{"password":["«hunter2»"]}"#,
    r#"{"auth":"«dXNlcjpwYXNz»"}"#,
    "{'secret': b'«abc»', 'password': '«hunter2»'}",
    "password=\"«never closed",
    "<user><password>«hunter2»</password></user>",
    r#"<user password="«hunter2»"/>"#,
    // Headers.
    "Authorization: «Bearer abc» failed",
    "authorization: «Basic dXNlcjpwYXNz»",
    "Proxy-Authorization: «Negotiate YII»",
    "Authorization: «AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=host, Signature=c» (403)",
    r#"{"authorization": "«Bearer abc»", "accept": "*/*"}"#,
    "map[Authorization:[«Bearer abc»] Accept:[*/*]]",
    "curl -H 'Authorization: «Bearer abc»' host",
    "Cookie: «a=b; c=d»",
    "set-cookie: «sid=abc; Path=/; HttpOnly»",
    r#"headers: {"cookie": "«a=b; c=d»"}"#,
    // Shapes.
    "invalid key sk-«proj-Ab12Cd34Ef56»",
    "Incorrect API key provided: sk-«ant-api03-abcdefgh1234».",
    "invalid x-api-key sk-«abcdefghijklmnopqrst»",
    "Bearer «abcd1234» is not allowed",
    "got 'Basic «dXNlcjpwYXNz»'",
    "JWT eyJ«hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln» expired",
    "access key AKIA«IOSFODNN7EXAMPLE» is inactive",
    "ASIA«IOSFODNN7EXAMPLE»",
    "key AIza«SyA1234567890abcdefghij» not valid",
    "ya29.«a0AfH6SMB»",
    "remote: ghp_«16C7e42F292c6912E7»",
    "github_pat_«11ABCDEFG0»",
    "glpat-«ABCdef123456»",
    "xoxb-«123456789012-abcdef» revoked",
    "sk_live_«4eC39HqLyjWDarjtT1zdp7dc»",
    "gsk_«abc1234567»",
    "hf_«AbCdEfGhIjKl»",
    "npm_«abcdef0123456789»",
    "hvs.«CAESIJ1234»",
    "SG.«abcdefghijklmnop.qrst»",
    "-----BEGIN RSA PRIVATE KEY-----«MIIE vQIB»-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----«MIIE",
    "user:pass sk-«abcd1234efgh»@x",
];

const SHOWN: [&str; 66] = [
    "token limit exceeded: 4096 tokens",
    "max_tokens: 4096",
    "max_tokens=4096, temperature=0.7",
    r#"{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46}"#,
    "maximum token: 4096",
    "key not found",
    "duplicate key: users_pkey",
    "primary key=17",
    "password must be at least 8 characters",
    "password: must be at least 8 characters",
    "invalid password: too short",
    "password is required",
    "token: expired",
    "token: connection refused",
    "token: Some(4096)",
    "refreshing the token: connection refused",
    "loading the private key: permission denied",
    "loading the private key: NotFound",
    "fetching secret: 503 Service Unavailable",
    "refreshing token: timeout",
    "failed to refresh token: host db-7:5432 is down",
    "could not read the password: stale file handle",
    "invalid token: the signature is wrong",
    "token expired at 12:30",
    "password=null",
    "api_key: None",
    "token=<redacted>",
    "password=***",
    "password: ",
    "secret: not found",
    "unexpected token: `}`",
    "Unexpected token < in JSON at position 0",
    "auth::token::refresh failed",
    "POST /oauth/token: 503",
    "https://host/oauth/token: 503 Service Unavailable",
    "authentication failed",
    "auth: failed",
    "authorization: required",
    "Bearer authentication is required",
    "WWW-Authenticate: Bearer",
    "Basic authentication failed",
    "Basic Authentication failed",
    "bearer token missing",
    r#"token_type: "bearer""#,
    "credentials: none found",
    "session: closed by peer",
    "session=7",
    "signature: mismatch",
    "tests pass: 5",
    "bypass: 1234567",
    "cookie: missing",
    "cookies: disabled",
    "secret_name=prod/db",
    "password_policy: strict",
    "hash=9f86d081884c7d65",
    "sha256:9f86d081884c7d659a2feaa0c55ad015",
    "commit 0b8bf8b9f86d081884c7d659a2feaa0c55ad0151",
    "request id 550e8400-e29b-41d4-a716-446655440000",
    "sk-learn 1.5",
    "risk-assessment12345678",
    "hf_transfer is not installed",
    "npm_config_registry",
    "ASIA-PACIFIC-REGION1",
    "-----BEGIN CERTIFICATE-----MIIE-----END CERTIFICATE-----",
    "use --password to log in",
    "--token is missing",
];

#[test]
fn only_secrets_are_redacted() {
    let mut wrong = Vec::new();
    for case in HIDDEN.into_iter().chain(SHOWN) {
        let (mut text, mut expected) = (String::new(), String::new());
        for (index, part) in case.split(['«', '»']).enumerate() {
            text += part;
            expected += if index % 2 == 0 { part } else { "…" };
        }
        let [once, again] = [text, expected.clone()].map(|text| shown(&text));
        if once != expected || again != expected {
            wrong.push((case, once, again));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each error of a chain is searched separately.
#[test]
fn a_cause_is_not_a_secret_value() {
    for (context, cause, expected) in rows! {
        "fetch token", "upstream is down", "fetch token: caused by upstream is down";
        "load API key", "password=hunter2 is wrong", "load API key: caused by password=… is wrong";
        "fetch user", "upstream is down", "fetch user: upstream is down";
    } {
        let error = anyhow::anyhow!(cause).context(context);
        assert_eq!(error_of!(error, anyhow::Error), expected);
    }
}

/// Redacted text doesn't count towards the length, and no part of it is shown at the end of a shortened text.
#[test]
fn a_long_secret_is_hidden_as_a_whole() {
    let secret = "s3cr3t".repeat(1_000);
    assert_eq!(shown(&format!("token={secret}, 503")), "token=…, 503");
    let cut = shown(&format!("{}password={secret}", "x ".repeat(507)));
    assert!(!cut.contains("s3"), "{cut}");
}

/// Models read logs, too: text that people can't see must not reach them, either.
#[test]
fn invisible_characters_are_escaped() {
    let invisible = "\u{ad}\u{180e}\u{200b}\u{2060}\u{2064}\u{206f}\u{feff}\u{fff9}\
        \u{fffb}\u{e0000}\u{e0041}\u{e007f}\u{e0100}\u{e01ef}";
    for char in invisible.chars() {
        let expected = format!("a{}b", char.escape_unicode());
        assert_eq!(shown(&format!("a{char}b")), expected);
    }
    for visible in ["نمی\u{200c}خواهم", "👩\u{200d}🔬", "☎\u{fe0f}"] {
        assert_eq!(shown(visible), visible);
    }
}
