import Foundation

/// How texts and pushes get out: `Policies/delivery.yaml`. It names secrets and never holds them.
package struct DeliveryPolicy: Sendable, Equatable {
    package enum Carrier: String, Sendable, CaseIterable {
        case sns
        case twilio
        /// A receiver of the operator's own, called as Standard Webhooks says.
        case webhook
        case file
    }

    /// In the order in which they are tried.
    package var senders = [Carrier.file]
    /// The longest that one attempt with one sender takes.
    package var attemptTimeout: TimeInterval = 10
    /// How much of it may go into the connection.
    package var connectTimeout: TimeInterval = 3
    /// The sentence with the code, `{code}` once.
    package var text = "Your code is {code}. Do not share it."
    /// The host that the line for autofill names; empty for the realm.
    package var textHost = ""
    /// The 11 characters by which Android's SMS Retriever finds the app; empty for none.
    package var androidRetrieverHash = ""
    /// The region of Amazon SNS.
    package var snsRegion = "us-east-1"
    /// Where SNS is, if not at the region's usual endpoint; empty for that.
    package var snsEndpoint = ""
    /// What people see as sender, where the country allows it; empty for none.
    package var snsSenderID = ""
    /// The number to send from; empty where SNS is to choose.
    package var snsOriginationNumber = ""
    /// The file of `Keys/` with Amazon's credentials; empty for the environment.
    package var snsCredentialsFile = ""
    package var twilioAccount = ""
    /// The SID of an API key; empty where the secret is the account's auth token.
    package var twilioAPIKey = ""
    /// The number or sender id to send from; empty with a messaging service.
    package var twilioFrom = ""
    /// The SID of a messaging service; empty with a number.
    package var twilioMessagingService = ""
    /// The file of `Keys/` with the auth token or the API key's secret.
    package var twilioSecretFile = "twilio.secret"
    package var twilioEndpoint = "https://api.twilio.com"
    /// The receiver of the webhook.
    package var webhookURL = ""
    /// The file of `Keys/` with the secret that the webhook is signed with.
    package var webhookSecretFile = "webhook.secret"

    package init() {}
}
