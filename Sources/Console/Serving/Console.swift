import Crypto
import Domain
import Encoding
import Foundation
import HTTPTypes
import Operations

/// The admin console: it answers requests that came with a certificate of an administrator.
///
/// There is no session and no cookie. Each request is checked from memory: its certificate and its origin, the right
/// of its route, and for an action the form's token.
package struct Console: Sendable {
    let parts: ConsoleParts
    private let keys: FormKeys
    /// Whether the server's certificate names a host.
    private let isOwnHost: @Sendable (String) -> Bool
    let status: @Sendable (Refusal.Code) -> HTTPResponse.Status
    private let administration: @Sendable (Administrator, _ isPage: Bool) -> Administration
    private let table: RouteTable
    private let patience: Patience
    private let submissions = Submissions()
    private let turns = Turns()

    init(
        _ parts: ConsoleParts, keys: FormKeys, isOwnHost: @escaping @Sendable (String) -> Bool,
        status: @escaping @Sendable (Refusal.Code) -> HTTPResponse.Status, routes: [ConsoleRoute], patience: Patience,
        administration: @escaping @Sendable (Administrator, _ isPage: Bool) -> Administration
    ) {
        self.parts = parts
        self.keys = keys
        self.isOwnHost = isOwnHost
        self.status = status
        self.administration = administration
        self.patience = patience
        table = RouteTable(routes)
    }
}

package extension Console {
    /// A page with the template of its route for the log, the error that it reports, and the administrator whose
    /// certificate was verified.
    typealias Reply = (
        head: HTTPResponse, body: [UInt8], route: String, cause: (any Error)?, administrator: AdministratorID?
    )

    /// - Parameters:
    ///   - isOwnHost: whether the server's certificate names a host.
    ///   - status: the status of a refusal.
    ///   - administration: the operations with an administrator as actor, limited by the role. Those of pages read apart.
    init(
        _ parts: ConsoleParts, keys: FormKeys, isOwnHost: @escaping @Sendable (String) -> Bool,
        status: @escaping @Sendable (Refusal.Code) -> HTTPResponse.Status,
        administration: @escaping @Sendable (Administrator, _ isPage: Bool) -> Administration
    ) {
        self.init(
            parts, keys: keys, isOwnHost: isOwnHost, status: status, routes: ConsoleRoutes.all, patience: .usual,
            administration: administration)
    }

    /// The name that an administrator has as the actor of an audit entry.
    static func actor(_ administrator: Administrator) -> String {
        "administrator \(administrator.name), role \(administrator.role.rawValue)"
    }

    /// Answers a request. Every error becomes a page.
    ///
    /// - Parameters:
    ///   - body: the form, or the error in place of it.
    ///   - thumbprint: the digest of the connection's certificate.
    ///   - id: the request's id in the log.
    func respond(
        to request: HTTPRequest, body: Result<[UInt8], any Error>, thumbprint: Digest256, id: String
    ) async -> Reply {
        let target = Target(request.path ?? "")
        if request.method != .post, target.path.hasSameBytes(as: StyleSheet.path) { return StyleSheet.reply }
        var visit = Visit(id: id, route: "unmatched")
        do {
            let body = try body.get()
            let administrator = try await parts.service.authenticateAdministrator(thumbprint)
            visit.administrator = administrator
            let origin = try origin(of: request)
            guard let kind = ConsoleRoute.Kind(request.method) else { return methodRefused(visit) }
            switch table.find(kind, target.path) {
            case .nowhere: throw Refusal.noSuchPage
            case .otherKind: return methodRefused(visit)
            case .route(let route, let segments):
                visit.route = route.path.description
                try administrator.require(route.right)
                let values = try fields(kind, request, target, body, origin)
                if kind == .page, let other = values.keys.filter({ !route.query.contains($0) }).min() {
                    throw Refusal.parameterUnknown(other)
                }
                let answer = try await answer(
                    route, segments, values, target, form: body,
                    Caller(administrator: administrator, thumbprint: thumbprint))
                return reply(answer, visit)
            }
        } catch {
            return refusal(error, visit)
        }
    }

    private struct Caller {
        let administrator: Administrator
        let thumbprint: Digest256
    }

    /// The origin that the browser must name, from the host that it asked for.
    private func origin(of request: HTTPRequest) throws(Refusal) -> SameOrigin {
        guard let authority = request.authority, isOwnHost(Target.host(of: authority)) else {
            throw Refusal.pageOfOtherHost
        }
        return SameOrigin(origin: "https://\(authority)")
    }

    /// The values of the query or the form, after it is known where the request comes from.
    private func fields(
        _ kind: ConsoleRoute.Kind, _ request: HTTPRequest, _ target: Target, _ body: [UInt8], _ origin: SameOrigin
    ) throws(Refusal) -> [String: String] {
        switch kind {
        case .page:
            guard origin.permitsReading(request.headerFields) else { throw Refusal.pageFromElsewhere }
            return try Target.values(target.query.utf8)
        case .action:
            guard origin.permitsAction(request.headerFields) else { throw Refusal.pageFromElsewhere }
            return try Target.values(body)
        }
    }

    private func answer(
        _ route: ConsoleRoute, _ segments: [String], _ values: [String: String], _ target: Target, form: [UInt8],
        _ caller: Caller
    ) async throws -> ConsoleAnswer {
        try count(route, caller)
        var values = values
        let token = values.removeValue(forKey: Form.Member.token)
        let operationID = values.removeValue(forKey: Form.Member.operationID)
        let tokens = FormToken(key: keys.current, others: keys.others, thumbprint: caller.thumbprint)
        let environment = parts.service.environment
        let request = ConsoleRequest(
            segments: segments, values: values, administrator: caller.administrator,
            administration: administration(caller.administrator, route.line == .page),
            now: environment.now(),
            operationID: route.kind == .action ? operationID : nil, tokens: tokens,
            newOperationID: { environment.newUUID().uuidString }, parts: parts)
        switch route.kind {
        case .page:
            let answer = try await patience { [turns] in
                try await turns(route.line, of: caller.administrator.id) { try await route.answer(request) }
            }
            if route.isPersonal, !request.looks.areCounted { try request.look(by: Digest256.of(target.text)) }
            return answer
        case .action:
            guard let token, let operationID, (16...64).contains(operationID.utf8.count) else {
                throw Refusal.formIncomplete
            }
            guard tokens.accepts(token, for: target.text, subject: route.subject(request), at: request.now) else {
                throw Refusal.formOutdated
            }
            let key = Submissions.Key(
                administrator: caller.administrator.id, target: target.text, operationID: operationID, form: form)
            return try await submissions.answer(key) { [turns] in
                try await turns(route.line, of: caller.administrator.id) { try await route.answer(request) }
            }
        }
    }

    /// Counts a call against the limit of its cost, before anything of it is done.
    private func count(_ route: ConsoleRoute, _ caller: Caller) throws(Refusal) {
        do throws(Refusal) {
            try parts.service.count(route.cost, by: .administrator(caller.administrator.id))
        } catch {
            throw Refusal.tooManyPages(retryAfter: error.retryAfter ?? 1)
        }
    }
}

extension ConsoleRoute {
    /// The line in which a request waits. An expensive action is in that of pages, so that it does not hold back a ban.
    fileprivate var line: Kind { cost == .heavy ? .page : kind }
}

extension ConsoleRoute.Kind {
    /// What a method asks for; `nil` for one that no route has.
    fileprivate init?(_ method: HTTPRequest.Method) {
        switch method {
        case .get, .head: self = .page
        case .post: self = .action
        default: return nil
        }
    }
}
