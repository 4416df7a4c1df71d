import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The connections to one service. Each request has ten seconds in addition to the service's allowed wait, and each
/// response at most a mebibyte.
final class Transport: Sendable {
    /// From the request to the last byte of the response.
    static let deadline = Duration.seconds(10)
    /// The maximum size of a response in bytes.
    static let maximumAnswer = 1 << 20

    private let open: HTTPClient
    private let mutual: HTTPClient
    /// `nil` if all calls use HTTP.
    private let herald: HeraldLine?
    private let service: Service
    /// The TLS configuration without a client certificate.
    let tls: TLSConfiguration
    private let watch: (@Sendable (Exchange) -> Void)?

    /// - Parameters:
    ///   - localAddress: the address to connect from; `nil` for the system's choice.
    ///   - watch: called after each exchange.
    ///   - connections: called with 1 when a connection to the client listener opens, and with -1 when it closes.
    init(
        _ service: Service, localAddress: String?, watch: (@Sendable (Exchange) -> Void)?,
        connections: @escaping @Sendable (Int) -> Void
    ) throws(Refusal) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv13
        if case .pem(let text) = service.roots {
            guard let roots = try? NIOSSLCertificate.fromPEMBytes(Array(text.utf8)), !roots.isEmpty else {
                throw .untrusted("the app's authority is not a PEM certificate")
            }
            tls.trustRoots = .certificates(roots)
        }
        (self.tls, self.service, self.watch) = (tls, service, watch)
        func client(_ count: @escaping @Sendable (Int) -> Void) -> HTTPClient {
            var configuration = HTTPClient.Configuration(
                tlsConfiguration: tls, redirectConfiguration: .disallow,
                timeout: .init(connect: .seconds(5)), decompression: .disabled)
            configuration.localAddress = localAddress
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.requirePins(Set(service.pins), count)
            // Network.framework does not support client certificates, so SwiftNIO's own sockets are used everywhere
            // (Upstream.md).
            return HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
        }
        open = client { _ in }
        mutual = client(connections)
        herald =
            service.messaging == .http
            ? nil
            : service.clientURL.host.map { host in
                HeraldLine(
                    .init(
                        host: host, port: service.clientURL.port ?? 443, tls: tls, localAddress: localAddress,
                        check: SPKIPin.check(Set(service.pins), connections)))
            }
    }

    deinit {
        open.shutdown { _ in }
        mutual.shutdown { _ in }
        if let herald { Task { await herald.close() } }
    }

    /// Sends a request to the client listener, or without an identity to the public one.
    func send(_ call: Call, as identity: Identity?) async throws(Refusal) -> Answer {
        let base = identity == nil ? service.publicURL : service.clientURL
        let path = call.request.path ?? "/"
        // Without a slash, the path would continue the host's name.
        guard path.hasPrefix("/") else { throw .unreachable("the path must begin with /") }
        var request = HTTPClientRequest(url: base.origin + path)
        request.method = HTTPMethod(rawValue: call.request.method.rawValue)
        for field in call.request.headerFields { request.headers.add(name: field.name.rawName, value: field.value) }
        if let body = call.body { request.body = .bytes(ByteBuffer(bytes: body)) }
        request.tlsConfiguration = identity?.tls
        let start = ContinuousClock.now
        let deadline = call.wait + Self.deadline
        var (result, messaging) = (await overHerald(call, as: identity, deadline), Service.Messaging.herald)
        if result == nil {
            let http = identity == nil ? open : mutual
            (result, messaging) = (
                await Self.within(deadline) { [request] in await Self.ask(request, deadline, http) }, .http
            )
        }
        let answer = result ?? .failure(.cancelled)
        watch?(
            Exchange(
                method: call.request.method.rawValue, path: String(path.prefix { $0 != "?" }),
                status: (try? answer.get()).map { $0.response.status.code },
                duration: ContinuousClock.now - start, messaging: messaging))
        return try answer.get()
    }

    /// The response over Herald; `nil` for a call that uses HTTP.
    private func overHerald(
        _ call: Call, as identity: Identity?, _ deadline: Duration
    ) async -> Result<Answer, Refusal>? {
        guard let herald, let identity, let token = call.sessionToken, let named = HeraldCall(call) else { return nil }
        let result: Result<Answer?, Refusal> = await Self.within(deadline) {
            do throws(Refusal) {
                return .success(try await herald.send(named, token: token, as: identity, wait: call.wait))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let answer): return answer.map { .success($0) }
        case .failure(let refusal): return .failure(refusal)
        }
    }

    /// Returns the result or the time limit's failure, whichever comes first. HTTPClient's own time limit ends with the
    /// head of the response.
    private static func within<Value: Sendable>(
        _ deadline: Duration, _ body: @escaping @Sendable () async -> Result<Value, Refusal>
    ) async -> Result<Value, Refusal> {
        await withTaskGroup(of: Result<Value, Refusal>?.self) { group in
            group.addTask(operation: body)
            group.addTask {
                do { try await Task.sleep(for: deadline) } catch { return nil }
                return .failure(.unanswered("the time limit of \(deadline.components.seconds) s was exceeded"))
            }
            defer { group.cancelAll() }
            for await first in group { if let first { return first } }
            return .failure(.cancelled)
        }
    }

    private static func ask(
        _ request: HTTPClientRequest, _ deadline: Duration, _ http: HTTPClient
    ) async -> Result<Answer, Refusal> {
        do {
            let answer = try await http.execute(request, timeout: .seconds(deadline.components.seconds))
            var fields = HTTPFields()
            for (name, value) in answer.headers {
                if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
            }
            let body = try await answer.body.collect(upTo: maximumAnswer)
            let response = HTTPResponse(status: .init(code: Int(answer.status.code)), headerFields: fields)
            return .success(Answer(response: response, body: Data(body.readableBytesView)))
        } catch {
            return .failure(Refusal(transport: error))
        }
    }
}

extension URL {
    /// Scheme, host and port, to which the paths of the service are appended.
    var origin: String {
        let text = absoluteString
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
