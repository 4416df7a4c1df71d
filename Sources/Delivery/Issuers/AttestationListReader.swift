import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Fetches Google's list of revoked attestation certificates, with the restrictions of webhooks: https, no private address,
/// no redirect, and a deadline.
package struct AttestationListReader: Sendable {
    private static let place = "https://android.googleapis.com/attestation/status"
    private static let seconds: TimeInterval = 20

    private let exchange: PublicExchange
    private let maximumLength: Int
}

package extension AttestationListReader {
    enum Reading: Sendable {
        /// The list as its host sent it.
        case read([UInt8])
        /// Why it could not be fetched, in words.
        case failed(reason: String)
    }

    /// - Parameter maximumLength: longer lists are not read, bytes.
    init(_ policy: DeliveryPolicy, upTo maximumLength: Int) {
        exchange = PublicExchange(.delivery(policy), timeout: Self.seconds) {
            PublicURL.permits($0, allowingLoopback: false)
        }
        self.maximumLength = maximumLength
    }

    func callAsFunction() async -> Reading {
        guard let url = PublicURL(Self.place, allowingLoopback: false) else { return .failed(reason: "no URL") }
        let outcome = await exchange(with: url, of: .attestationList) { [maximumLength] in
            await $0.get(url.web, upTo: maximumLength)
        }
        let reply: BoundedHTTPClient.Reply
        switch outcome {
        case .unknownHost: return .failed(reason: "the host has no address")
        case .forbidden: return .failed(reason: "the host has an address that is not public")
        case .exchanged(let answer): reply = answer
        }
        switch reply.answer {
        case .failed(let reason): return .failed(reason: reason)
        case .answered(200, let body?):
            if reply.isEncoded {
                return .failed(reason: "it has a Content-Encoding, which was not requested")
            }
            return .read(body)
        case .answered(200, nil): return .failed(reason: "it is too long")
        case .answered(let status, _): return .failed(reason: "HTTP \(status)")
        }
    }
}
