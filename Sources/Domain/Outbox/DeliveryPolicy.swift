import Foundation

/// How texts and pushes get out: `Policies/delivery.yaml`. It names secrets and never holds them.
package struct DeliveryPolicy: Sendable, Equatable {
    /// In the order in which they are tried.
    package var senders = [SenderEntry(kind: "file")]
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

    package init() {}
}

/// One entry of `senders:`: the kind of sender, and the keys that the operator set. The folder of the sender in `Delivery`
/// knows which keys there are and what they mean.
package struct SenderEntry: Sendable, Equatable {
    /// `sns`, `twilio`, `webhook` or `file`.
    package let kind: String
    /// Without `kind`.
    package var values: [String: String]

    package init(kind: String, values: [String: String] = [:]) {
        self.kind = kind
        self.values = values
    }
}
