import AsyncHTTPClient
import Domain
import Encoding
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One request to a carrier's service, with limits of time and size for the response.
struct BoundedHTTPClient: Sendable {
    /// Made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`.
    let http: HTTPClient
    /// From the start of the connection to the last byte of the response, seconds.
    let timeout: TimeInterval

    /// Longer responses are not read, bytes.
    static let maximumAnswer = 65_536

    enum Answer: Sendable, Equatable {
        /// A response; its body is `nil` if it exceeded the limit.
        case answered(status: UInt, body: [UInt8]?)
        /// No response. The reason says what is known, without personal data.
        case failed(reason: String)
    }

    /// An answer, and what it says of its age.
    struct Reply: Sendable, Equatable {
        let answer: Answer
        /// `Cache-Control` (RFC 9111 §5.2); `nil` if there is none.
        var cacheControl: String?

        static func failed(_ reason: String) -> Reply { Reply(answer: .failed(reason: reason)) }
    }

    func post(_ body: [UInt8], to url: WebAddress, headers: [(name: String, value: String)]) async -> Answer {
        var request = HTTPClientRequest(url: url.description)
        request.method = .POST
        request.headers = HTTPHeaders(headers.map { ($0.name, $0.value) })
        request.body = .bytes(ByteBuffer(bytes: body))
        return await send(request, to: url).answer
    }

    /// Reads a document of JSON.
    func get(_ url: WebAddress) async -> Reply {
        var request = HTTPClientRequest(url: url.description)
        request.headers.add(name: "accept", value: "application/json")
        return await send(request, to: url)
    }

    private func send(_ request: HTTPClientRequest, to url: WebAddress) async -> Reply {
        var question = request
        question.headers.replaceOrAdd(name: "host", value: url.host)
        question.headers.add(name: "user-agent", value: "countersign")
        return await withTaskGroup(of: Reply.self) { [question] group in
            group.addTask { await ask(question) }
            group.addTask {
                // The client's own deadline ends with the head of a response; a body may arrive arbitrarily slowly.
                try? await Task.sleep(for: .seconds(timeout))
                return .failed(Task.isCancelled ? "cancelled" : Self.late)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failed("cancelled")
        }
    }

    private static let unconnected: Set<CInt> = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL]
    private static let late = "no answer in time; it may have been accepted"

    private func ask(_ request: HTTPClientRequest) async -> Reply {
        do {
            let limit = TimeAmount.milliseconds(Int64(timeout * 1000))
            let answer = try await http.execute(request, timeout: limit)
            let cacheControl = answer.headers.first(name: "cache-control")
            do {
                let body = try await answer.body.collect(upTo: Self.maximumAnswer)
                let bytes = Array(body.readableBytesView)
                return Reply(answer: .answered(status: answer.status.code, body: bytes), cacheControl: cacheControl)
            } catch is NIOTooManyBytesError {
                return Reply(answer: .answered(status: answer.status.code, body: nil), cacheControl: cacheControl)
            }
        } catch let error as HTTPClientError {
            switch error {
            case .deadlineExceeded, .readTimeout: return .failed(Self.late)
            case .connectTimeout: return .failed("no connection in time")
            case .tlsHandshakeTimeout: return .failed("no TLS connection in time")
            case .cancelled: return .failed("cancelled")
            default: return .failed("the connection broke; it may have been accepted")
            }
        } catch is ForeignPeer {
            return .failed("the connection reached an address that is not public")
        } catch is CancellationError {
            return .failed("cancelled")
        } catch is NIOConnectionError {
            return .failed("no connection")
        } catch let error as IOError where Self.unconnected.contains(error.errnoCode) {
            return .failed("no connection")
        } catch is NIOSSLError, is NIOSSLExtraError, is BoringSSLError {
            return .failed("no TLS connection that can be trusted")
        } catch {
            return .failed("the connection broke; it may have been accepted")
        }
    }
}

extension HTTPClient.Configuration {
    /// How the service connects to carriers' services: TLS 1.2 or newer, verified by the system's roots. No redirect
    /// is followed, so a message and its credentials go only where the policy says. No attempt is repeated.
    package static func delivery(_ policy: DeliveryPolicy) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        let connect = TimeAmount.milliseconds(Int64(policy.connectTimeout * 1000))
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: connect))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        return configuration
    }
}
