import AsyncHTTPClient
import Domain
import Encoding
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Traces
import Tracing

/// One request to a carrier's service, with limits of time and size for the response.
package struct BoundedHTTPClient: Sendable {
    /// Must be made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`.
    let http: HTTPClient
    /// From the start of the connection to the last byte of the response, seconds.
    let timeout: TimeInterval

    package init(http: HTTPClient, timeout: TimeInterval) {
        self.http = http
        self.timeout = timeout
    }

    /// Longer responses are not read, bytes.
    static let maximumAnswer = 65_536

    /// A response with the fields that concern its age and the next request.
    struct Reply: Sendable, Equatable {
        var answer: Answer
        /// `Cache-Control` (RFC 9111 §5.2); `nil` if there is none.
        var cacheControl: String?
        /// Whether the body has a content coding, which no request asks for (RFC 9110 §8.4).
        var isEncoded = false
        /// The seconds to wait before the next request (RFC 9110 §10.2.3); `nil` if the response does not say.
        var retryAfter: TimeInterval?

        static func failed(_ reason: String) -> Reply { Reply(answer: .failed(reason: reason)) }
    }

    /// Posts a body and reads the whole response.
    func reply(
        to body: [UInt8], for url: WebAddress, headers: [(name: String, value: String)]
    ) async -> Reply {
        var request = HTTPClientRequest(url: url.description)
        request.method = .POST
        request.headers = HTTPHeaders(headers.map { ($0.name, $0.value) })
        request.body = .bytes(ByteBuffer(bytes: body))
        return await send(request, to: url)
    }

    /// Fetches a JSON document.
    ///
    /// - Parameter maximum: longer ones are not read, bytes.
    func get(_ url: WebAddress, upTo maximum: Int, accept: String = "application/json") async -> Reply {
        var request = HTTPClientRequest(url: url.description)
        request.headers.add(name: "accept", value: accept)
        // Responses are not decompressed: that would need another limit.
        request.headers.add(name: "accept-encoding", value: "identity")
        return await send(request, to: url, upTo: maximum)
    }
}

package extension BoundedHTTPClient {
    enum Answer: Sendable, Equatable {
        /// A response; its body is `nil` if it exceeded the limit.
        case answered(status: UInt, body: [UInt8]?)
        /// No response. The reason says what is known, without personal data.
        case failed(reason: String)
    }

    func post(
        _ body: [UInt8], to url: WebAddress, headers: [(name: String, value: String)]
    ) async -> Answer {
        await reply(to: body, for: url, headers: headers).answer
    }

    private func send(
        _ question: HTTPClientRequest, to url: WebAddress, upTo maximum: Int = maximumAnswer
    ) async -> Reply {
        var request = question
        request.headers.replaceOrAdd(name: "host", value: url.host)
        request.headers.add(name: "user-agent", value: "countersign")
        let trace = Trace.current
        let span = trace?.tracer?.startSpan(request.method.rawValue, context: .of(trace), ofKind: .client)
        if let parent = span?.identity ?? trace?.parent {
            request.headers.replaceOrAdd(name: "traceparent", value: parent.description)
        }
        let reply = await reply(to: request, upTo: maximum)
        // Path and query may contain secrets of the called service.
        span?.end(reply.answer, to: request.method.rawValue, of: url.host)
        return reply
    }

    private func reply(to question: HTTPClientRequest, upTo maximum: Int) async -> Reply {
        await withTaskGroup(of: Reply.self) { group in
            group.addTask { await ask(question, upTo: maximum) }
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

    /// The longest field of a response that is read, bytes.
    private static let longestField = 1024

    /// A field whose text may be compared: short and ASCII. Others are ignored.
    static func plain(_ field: String?) -> String? {
        guard let field, field.utf8.count <= longestField, field.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return field
    }

    /// Whether a content coding is none, in letters of any case.
    static func isIdentity(_ coding: String) -> Bool {
        coding.utf8.lazy.map { $0 | 0x20 }.elementsEqual("identity".utf8)
    }

    private func ask(_ request: HTTPClientRequest, upTo maximum: Int) async -> Reply {
        do {
            let limit = TimeAmount.milliseconds(Int64(timeout * 1000))
            let answer = try await http.execute(request, timeout: limit)
            var reply = Reply(
                answer: .answered(status: answer.status.code, body: nil),
                cacheControl: Self.plain(answer.headers.first(name: "cache-control")),
                isEncoded: answer.headers["content-encoding"].contains { !Self.isIdentity($0) },
                retryAfter: RetryAfter.seconds(Self.plain(answer.headers.first(name: "retry-after")), now: Date()))
            do {
                let body = try await answer.body.collect(upTo: maximum)
                reply.answer = .answered(status: answer.status.code, body: Array(body.readableBytesView))
                return reply
            } catch is NIOTooManyBytesError {
                return reply
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
            return .failed("the connection led to an address that is not public")
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

extension RecordedSpan {
    fileprivate func end(_ answer: BoundedHTTPClient.Answer, to method: String, of host: String) {
        attributes = ["http.request.method": .string(method), "server.address": .string(host)]
        switch answer {
        case .answered(let status, _):
            attributes.set("http.response.status_code", value: .int64(Int64(status)))
            if status >= 400 { setStatus(SpanStatus(code: .error)) }
        case .failed: setStatus(SpanStatus(code: .error))
        }
        end()
    }
}

package extension HTTPClient.Configuration {
    /// How the service connects to carriers' services: TLS 1.2 or newer, verified by the system's roots. No redirect
    /// is followed, so a message and its credentials go only where the policy says. No attempt is repeated.
    static func delivery(_ policy: DeliveryPolicy) -> HTTPClient.Configuration {
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
