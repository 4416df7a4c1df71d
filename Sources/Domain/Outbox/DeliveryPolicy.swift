import Foundation

/// How texts and pushes are sent: `Policies/delivery.yaml`. It contains the names of secrets, never the secrets.
package struct DeliveryPolicy: Sendable, Equatable {
    /// The senders, in the order in which they are tried.
    package var senders = [SenderEntry(kind: "file")]
    /// The longest time of one attempt with one sender.
    package var attemptTimeout: TimeInterval = 10
    /// The part of it that may be used for connecting.
    package var connectTimeout: TimeInterval = 3
    /// The text message in English, also for languages without a sentence. It contains `{code}` once.
    package var text = "{app}: Your code is {code}. Do not share it."
    /// Sentences that replace the built-in ones: a language tag, a space, and the sentence.
    package var texts: [String] = []
    /// The host in the line for autofill; the realm if empty.
    package var textHost = ""
    /// The 11-character hash by which Android's SMS Retriever finds the app; empty for none.
    package var androidRetrieverHash = ""

    package init() {}

    /// The entries of ``texts``, with the tags in lower case.
    package var sentences: [(tag: String, sentence: String)] {
        texts.compactMap { entry in
            let parts = entry.split(separator: " ", maxSplits: 1)
            return parts.count == 2 ? (parts[0].lowercased(), String(parts[1])) : nil
        }
    }
}

/// One entry of `senders:`: the kind of sender and the operator's settings. The sender's folder in `Delivery` defines
/// its settings and their meaning.
package struct SenderEntry: Sendable, Equatable {
    /// `sns`, `twilio`, `webhook` or `file`.
    package let kind: String
    /// The sender's settings by name, without `kind`.
    package var values: [String: String]

    package init(kind: String, values: [String: String] = [:]) {
        self.kind = kind
        self.values = values
    }
}
