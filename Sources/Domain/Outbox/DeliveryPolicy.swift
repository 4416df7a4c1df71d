import Foundation

/// How texts and pushes get out: `Policies/delivery.yaml`. It names secrets and never holds them.
public struct DeliveryPolicy: Sendable, Equatable {
    /// The ways out.
    public enum Carrier: String, Sendable, CaseIterable {
        /// Amazon SNS.
        case sns
        /// Twilio's Messages.
        case twilio
        /// A receiver of the operator's own, called as Standard Webhooks says.
        case webhook
        /// A file, for development.
        case file
    }

    /// In the order in which they are tried.
    public var senders = [Carrier.file]
    /// The longest that one attempt with one sender takes.
    public var attemptTimeout: TimeInterval = 10
    /// How much of it may go into the connection.
    public var connectTimeout: TimeInterval = 3
    /// The sentence with the code, `{code}` once.
    public var text = "Your code is {code}. Do not share it."
    /// The host that the line for autofill names; empty for the realm.
    public var textHost = ""
    /// The 11 characters by which Android's SMS Retriever finds the app; empty for none.
    public var androidRetrieverHash = ""
    /// The region of Amazon SNS.
    public var snsRegion = "us-east-1"
    /// Where SNS is, if not at the region's usual endpoint; empty for that.
    public var snsEndpoint = ""
    /// What people see as sender, where the country allows it; empty for none.
    public var snsSenderID = ""
    /// The number to send from; empty where SNS is to choose.
    public var snsOriginationNumber = ""
    /// The file of `Keys/` with Amazon's credentials; empty for the environment.
    public var snsCredentialsFile = ""
    /// Twilio's account SID.
    public var twilioAccount = ""
    /// The SID of an API key; empty where the secret is the account's auth token.
    public var twilioAPIKey = ""
    /// The number or sender id to send from; empty with a messaging service.
    public var twilioFrom = ""
    /// The SID of a messaging service; empty with a number.
    public var twilioMessagingService = ""
    /// The file of `Keys/` with the auth token or the API key's secret.
    public var twilioSecretFile = "twilio.secret"
    /// Where Twilio is.
    public var twilioEndpoint = "https://api.twilio.com"
    /// The receiver of the webhook.
    public var webhookURL = ""
    /// The file of `Keys/` with the secret that the webhook is signed with.
    public var webhookSecretFile = "webhook.secret"

    public init() {}
}
