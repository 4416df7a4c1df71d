import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// The server's key is not pinned.
private struct WrongPin: Error {
    let shown: String
}

extension HTTPClient.Configuration {
    /// Checks the server's key before a request is sent over a connection, and counts connections.
    mutating func requirePins(_ pins: Set<SPKIPin>, _ count: @escaping @Sendable (Int) -> Void) {
        let check = SPKIPin.check(pins, count)
        http1_1ConnectionDebugInitializer = check
        http2ConnectionDebugInitializer = check
    }
}

extension SPKIPin {
    /// Checks the server's key after the handshake, and counts connections.
    static func check(
        _ pins: Set<SPKIPin>, _ count: @escaping @Sendable (Int) -> Void
    ) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        { channel in
            channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
                let pin = try certificate.map { try SPKIPin(of: $0) }
                guard pins.isEmpty || pin.map(pins.contains) == true else {
                    channel.close(promise: nil)
                    throw WrongPin(shown: pin?.description ?? "none")
                }
                count(1)
                channel.closeFuture.whenComplete { _ in count(-1) }
            }
        }
    }
}

extension Refusal {
    /// Maps the error of a connection: the server was the wrong one, was not reached, or may have acted.
    init(transport error: any Error) {
        switch error {
        case let wrong as WrongPin:
            self = .untrusted("its key is \(wrong.shown), which is not pinned")
        case is NIOTooManyBytesError:
            self = .unreadable("it is longer than a mebibyte")
        case is CancellationError:
            self = .cancelled
        case let error as HTTPClientError:
            switch error {
            // Also the error of streams of a closed connection.
            case .cancelled: self = Task.isCancelled ? .cancelled : .unanswered("the connection broke")
            case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
                self = .unreachable("no connection within the time limit")
            case .invalidURL, .emptyHost, .emptyScheme: self = .unreachable("the URL is not valid")
            case .deadlineExceeded, .readTimeout: self = .unanswered("the time limit was exceeded")
            default: self = .unanswered("the connection broke")
            }
        case is NIOSSLError, is BoringSSLError:
            self = Self.tls("\(error)")
        case is NIOSSLExtraError:
            self = .untrusted("its certificate is for another name")
        case is NIOConnectionError:
            self = .unreachable("no connection")
        case let error as IOError
        where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL].contains(error.errnoCode):
            self = .unreachable("no connection")
        case let error as StorageFailure:
            self = .storage(error)
        default:
            self = .unanswered("the connection broke")
        }
    }

    /// Maps the text of an error of BoringSSL, which has no codes for these errors (Upstream.md).
    private static func tls(_ words: String) -> Refusal {
        if words.contains("CERTIFICATE_VERIFY_FAILED") || words.contains("unableToValidateCertificate") {
            return .untrusted("it is not certified by a trusted authority, or a clock is wrong")
        }
        return words.contains("handshakeFailed")
            ? .unreachable("the TLS handshake failed") : .unanswered("the connection broke")
    }
}
