import Foundation
import Logging
import Metrics
import NIOSSL

/// Counts handshakes of a listener by result, and logs a sample of each kind of failure.
final class Handshakes: Sendable {
    /// The result of a handshake, or why a connection did not reach one.
    enum Result: String, Sendable, CaseIterable {
        case ok
        case plainHTTP = "plain_http"
        case notTLS = "not_tls"
        /// The connection came from a proxy network without a valid PROXY header.
        case proxyHeader = "proxy_header"
        /// The client sent no certificate, but one is required.
        case noCertificate = "no_certificate"
        case certificateExpired = "certificate_expired"
        /// The client's certificate is not from a trusted authority, or not for this use.
        case unknownAuthority = "unknown_authority"
        /// The client's certificate is malformed, or its key did not sign.
        case certificateRefused = "certificate_refused"
        /// Client and server have no version, cipher suite or signature algorithm in common.
        case nothingInCommon = "nothing_in_common"
        /// The client refused the server's certificate, or reported another reason.
        case refusedByClient = "refused_by_client"
        case timeout
        case closed
        case other
    }

    private let listener: String
    private let log: SampledLog
    private let completed: Counter

    init(listener: String, logger: Logger) {
        self.listener = listener
        completed = Self.counter(listener, .ok)
        log = SampledLog(logger: logger)
    }

    /// Counts a result. The log contains no client data: neither address nor names.
    func record(_ result: Result) {
        guard result != .ok else { return completed.increment() }
        Self.counter(listener, result).increment()
        log.warning(
            "a handshake failed", kind: result.rawValue,
            ["listener": .string(listener), "result": .string(result.rawValue)])
    }

    private static func counter(_ listener: String, _ result: Result) -> Counter {
        Counter(label: "handshakes", dimensions: [("listener", listener), ("result", result.rawValue)])
    }

    /// Derives the result from an error of the TLS library, whose reasons are only in its text (Upstream.md).
    static func result(of error: any Error, certificateExpiresAt expiry: Date?, now: Date) -> Result {
        guard let error = error as? NIOSSLError else { return .closed }
        guard case .handshakeFailed(let failure) = error, case .sslError(let stack) = failure else { return .closed }
        let text = stack.map(\.description).joined(separator: " ")
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if says("PEER_DID_NOT_RETURN_A_CERTIFICATE") { return .noCertificate }
        if says("CERTIFICATE_VERIFY_FAILED") {
            return expiry.map { $0 < now } == true ? .certificateExpired : .unknownAuthority
        }
        if says("BAD_SIGNATURE", "WRONG_SIGNATURE_TYPE", "CERT_DECODE", "CANNOT_PARSE_LEAF_CERT", "DECODE_ERROR_CERT") {
            return .certificateRefused
        }
        if says("HTTP_REQUEST", "HTTPS_PROXY_REQUEST") { return .plainHTTP }
        // OpenSSL's clients send their alert in clear text although TLS 1.3 already has keys: it cannot be decrypted.
        if says("_ALERT_", "DECRYPTION_FAILED_OR_BAD_RECORD_MAC") { return .refusedByClient }
        // The last two: no suite or curve of the client fits the server's key.
        if says("UNSUPPORTED_PROTOCOL", "NO_SHARED", "NO_COMMON", "UNKNOWN_CERTIFICATE_TYPE", "WRONG_CURVE") {
            return .nothingInCommon
        }
        if says("WRONG_VERSION_NUMBER", "UNEXPECTED_RECORD", "UNEXPECTED_MESSAGE", "BAD_DECRYPT") { return .notTLS }
        if says("EOF during handshake") { return .closed }
        return .other
    }
}
