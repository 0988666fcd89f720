//! Messages by mail, over SMTP. Without the feature `mail` there is none.

use super::RecipientError;
use crate::config::MessageConfig;

#[cfg(feature = "mail")]
pub(super) use self::smtp::Mail;

#[cfg(feature = "mail")]
mod smtp {
    use std::{fmt, time::Duration};

    use lettre::{
        Message, SmtpTransport, Transport as _,
        message::{Mailbox, header::ContentType},
    };
    use url::Url;

    use super::{MessageConfig, RecipientError};
    use crate::config::Secret;

    /// Time for each step of the conversation with the server.
    const TIMEOUT: Duration = Duration::from_secs(30);

    /// A mailbox, and the server that takes mail for it.
    #[derive(Clone, PartialEq, Eq)]
    pub(in crate::notify) struct Mail {
        to: Mailbox,
        from: Mailbox,
        server: Secret,
    }

    impl fmt::Debug for Mail {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_tuple("Mail").field(&self.to).finish()
        }
    }

    impl Mail {
        pub(in crate::notify) fn of(
            address: &str,
            config: &MessageConfig,
        ) -> Result<Self, RecipientError> {
            const TO: &str = "an address such as \"mailto:web@example.com\"";
            const FROM: &str = "from = an address such as \"arpent@example.com\"";
            const SERVER: &str = "server = \"smtps://USER:PASSWORD@HOST\", or \"smtp://HOST:PORT\" without encryption";
            let wrong = RecipientError::NoAddress;
            let to: Mailbox = address.parse().map_err(|_| wrong(TO))?;
            let from = config.from.as_ref().map(|from| from.parse());
            let from = from.transpose().map_err(|_| wrong(FROM))?;
            let server = config.server.clone().ok_or(RecipientError::NoServer)?;
            SmtpTransport::from_url(server.reveal()).map_err(|_| wrong(SERVER))?;
            Ok(Self {
                from: from.unwrap_or_else(|| to.clone()),
                to,
                server,
            })
        }

        /// The address and the server, without a password.
        pub(in crate::notify) fn shown(&self) -> String {
            let server = Url::parse(self.server.reveal()).ok();
            let host = server.as_ref().and_then(Url::host_str);
            format!("mail to {} by {}", self.to.email, host.unwrap_or_default())
        }

        /// Sends a text; `key` is another one for each.
        pub(in crate::notify) fn send(
            &self,
            subject: &str,
            text: &str,
            key: &str,
        ) -> Result<(), String> {
            // The errors of the library have their causes in their texts.
            let failed =
                |error: &dyn std::error::Error| format!("{}: {error}; check server", self.shown());
            let message = Message::builder()
                .from(self.from.clone())
                .to(self.to.clone())
                .message_id(Some(format!("<{key}@{}>", self.from.email.domain())))
                .subject(subject)
                .header(ContentType::TEXT_PLAIN)
                .body(text.to_owned());
            let message = message.map_err(|error| failed(&error))?;
            let server = SmtpTransport::from_url(self.server.reveal());
            let server = server.map_err(|error| failed(&error))?;
            let server = server.timeout(Some(TIMEOUT)).build();
            server.send(&message).map_err(|error| failed(&error))?;
            Ok(())
        }
    }
}

#[cfg(not(feature = "mail"))]
pub(super) use self::NoMail as Mail;

/// There is none.
#[cfg(not(feature = "mail"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoMail {}

#[cfg(not(feature = "mail"))]
impl NoMail {
    pub(super) fn of(_: &str, _: &MessageConfig) -> Result<Self, RecipientError> {
        Err(RecipientError::NoMail)
    }

    pub(super) fn shown(&self) -> String {
        match *self {}
    }

    pub(super) fn send(&self, _: &str, _: &str, _: &str) -> Result<(), String> {
        match *self {}
    }
}
