import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Operations

/// Declares the routes of a listener. Each declaration has a cost and its query parameters, which are recorded in the
/// directory. Each call is counted, and its query checked, before it is carried out.
///
/// A call is counted for the peer of its connection, before its session is checked, and with a session also for the
/// user. A backend's call is counted for the provider, however it authenticates: see `Service.authenticateProvider`.
struct ListedRouter<Context: ListenerContext> {
    typealias Count = @Sendable (CallCost, CountedCaller) throws -> Void

    private let wrapped: Router<Context>
    private let listener: ListenerName
    private let directory: RouteDirectory
    private let count: Count
    private var path: RouterPath = ""
    private var gate: (any MiddlewareProtocol<Request, Response, Context>)?
    private var countsPeers = true
    private var ignoresOthers = false

    /// A router whose routes answer `HEAD` too if they answer `GET`.
    init(
        _ context: Context.Type, listener: ListenerName, directory: RouteDirectory, count: @escaping Count
    ) {
        wrapped = Router(context: context, options: .autoGenerateHeadEndpoints)
        self.listener = listener
        self.directory = directory
        self.count = count
    }

    /// Adds middleware for all routes that are declared later.
    func add(middleware: any MiddlewareProtocol<Request, Response, Context>) {
        wrapped.add(middleware: middleware)
    }

    func group(_ path: RouterPath = "") -> Self {
        var group = self
        group.path = self.path.appendingPath(path)
        return group
    }

    /// A router for routes after a middleware that admits requests and finds the user.
    func behind(_ gate: any MiddlewareProtocol<Request, Response, Context>) -> Self {
        var group = self
        group.gate = gate
        return group
    }

    /// A router for calls that prove their provider and are counted for it.
    var ofProviders: Self {
        var group = self
        group.countsPeers = false
        return group
    }

    /// A router for calls whose standard requires that unknown parameters are ignored: OAuth (RFC 6749 §3.2), Shared
    /// Signals, wallets, and the documents of discovery.
    var ignoringUnknownParameters: Self {
        var group = self
        group.ignoresOthers = true
        return group
    }

    var router: Router<Context> { wrapped }

    typealias Handler = @Sendable (Request, Context) async throws -> Response

    /// Adds the document at a well-known URL.
    ///
    /// - Parameter url: the URL of the described service. If it has a path, the document is also at the well-known URL
    ///   with that path appended (RFC 8414 §3.1, RFC 9728 §3.1). It is listed once.
    func get(
        _ path: RouterPath = "", cost: CallCost, query: RouteQuery = [],
        describing url: (@Sendable () -> String)? = nil, use handler: @escaping Handler
    ) {
        let call = RouteCall(cost: cost, query: query)
        declare(.get, path, call, handler)
        guard let url, let name = path.description.split(separator: "/").last.map(String.init) else { return }
        declare(.get, path.appendingPath("**"), call, isListed: false) { request, context in
            guard ServiceURLs.wellKnownPath(name, of: url()).hasSameBytes(as: request.uri.path) else {
                throw HTTPError(.notFound)
            }
            return try await handler(request, context)
        }
    }

    /// - Parameter largestBody: the bound of the body, bytes, if it may be larger than those of other calls.
    func post(
        _ path: RouterPath = "", cost: CallCost, query: RouteQuery = [], largestBody: Int? = nil,
        use handler: @escaping Handler
    ) {
        declare(.post, path, RouteCall(cost: cost, query: query, largestBody: largestBody), handler)
    }

    func put(_ path: RouterPath = "", cost: CallCost, query: RouteQuery = [], use handler: @escaping Handler) {
        declare(.put, path, RouteCall(cost: cost, query: query), handler)
    }

    func patch(_ path: RouterPath = "", cost: CallCost, query: RouteQuery = [], use handler: @escaping Handler) {
        declare(.patch, path, RouteCall(cost: cost, query: query), handler)
    }

    func delete(_ path: RouterPath = "", cost: CallCost, query: RouteQuery = [], use handler: @escaping Handler) {
        declare(.delete, path, RouteCall(cost: cost, query: query), handler)
    }

    private func declare(
        _ method: HTTPRequest.Method, _ path: RouterPath, _ call: RouteCall, isListed: Bool = true,
        _ handler: @escaping Handler
    ) {
        let whole = self.path.appendingPath(path)
        var call = call
        call.query.ignoresOthers = ignoresOthers
        if isListed { directory.add(method, whole.description, call, on: listener) }
        let (count, gate, countsPeers) = (count, gate, countsPeers)
        let responder = CallbackResponder<Context> { [cost = call.cost, query = call.query] request, context in
            var context = context
            context.cost = cost
            if countsPeers, let peer = context.peer { try count(cost, peer) }
            try query.check(request.uri.query)
            guard let gate else { return try await handler(request, context) }
            return try await gate.handle(request, context: context) { request, context in
                if let user = context.user { try count(cost, .user(user)) }
                return try await handler(request, context)
            }
        }
        wrapped.on(whole, method: method, responder: responder)
    }
}
