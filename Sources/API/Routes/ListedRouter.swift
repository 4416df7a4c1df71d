import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Operations

/// Where the routes of a listener are declared. Each says what a call of it costs, for there is no other way to declare
/// one; it is recorded in the directory, and each of its calls is counted before it is carried out.
///
/// A call counts for the other end of its connection, before its session is looked at, and in a session for the user,
/// too. That of a backend counts for the provider, by whatever proves it: see `AuthenticateProvider`.
struct ListedRouter<Context: ListenerContext> {
    /// Counts a call for a caller.
    typealias Count = @Sendable (CallCost, CountedCaller) throws -> Void

    private let wrapped: Router<Context>
    private let listener: ListenerName
    private let directory: RouteDirectory
    private let count: Count
    private var path: RouterPath = ""
    private var gate: (any MiddlewareProtocol<Request, Response, Context>)?
    private var countsPeers = true

    /// A router whose routes answer `HEAD` too if they answer `GET`.
    init(
        _ context: Context.Type, listener: ListenerName, directory: RouteDirectory, count: @escaping Count
    ) {
        wrapped = Router(context: context, options: .autoGenerateHeadEndpoints)
        self.listener = listener
        self.directory = directory
        self.count = count
    }

    /// Adds what holds for all routes that are declared later.
    func add(middleware: any MiddlewareProtocol<Request, Response, Context>) {
        wrapped.add(middleware: middleware)
    }

    /// The same below a path.
    func group(_ path: RouterPath = "") -> Self {
        var group = self
        group.path = self.path.appendingPath(path)
        return group
    }

    /// The same for whoever a gate lets through, which finds out the user.
    func behind(_ gate: any MiddlewareProtocol<Request, Response, Context>) -> Self {
        var group = self
        group.gate = gate
        return group
    }

    /// The same for calls that prove their provider, and count for it.
    var ofProviders: Self {
        var group = self
        group.countsPeers = false
        return group
    }

    /// The router with its routes, for the listener.
    var router: Router<Context> { wrapped }

    /// What carries out a request of a route.
    typealias Handler = @Sendable (Request, Context) async throws -> Response

    /// - Parameter url: that of the service which a document at a well-known place describes. If the URL has a path, the
    ///   document is also at its place with that path after it (RFC 8414 §3.1, RFC 9728 §3.1): the same document, which is
    ///   listed once.
    func get(
        _ path: RouterPath = "", cost: CallCost, describing url: (@Sendable () -> String)? = nil,
        use handler: @escaping Handler
    ) {
        declare(.get, path, cost, handler)
        guard let url, let name = path.description.split(separator: "/").last.map(String.init) else { return }
        declare(.get, path.appendingPath("**"), cost, isListed: false) { request, context in
            guard ServiceURLs.wellKnownPath(name, of: url()).hasSameBytes(as: request.uri.path) else {
                throw HTTPError(.notFound)
            }
            return try await handler(request, context)
        }
    }

    func post(_ path: RouterPath = "", cost: CallCost, use handler: @escaping Handler) {
        declare(.post, path, cost, handler)
    }

    func put(_ path: RouterPath = "", cost: CallCost, use handler: @escaping Handler) {
        declare(.put, path, cost, handler)
    }

    func patch(_ path: RouterPath = "", cost: CallCost, use handler: @escaping Handler) {
        declare(.patch, path, cost, handler)
    }

    func delete(_ path: RouterPath = "", cost: CallCost, use handler: @escaping Handler) {
        declare(.delete, path, cost, handler)
    }

    private func declare(
        _ method: HTTPRequest.Method, _ path: RouterPath, _ cost: CallCost, isListed: Bool = true,
        _ handler: @escaping Handler
    ) {
        let whole = self.path.appendingPath(path)
        if isListed { directory.add(method, whole.description, cost: cost, on: listener) }
        let (count, gate, countsPeers) = (count, gate, countsPeers)
        let responder = CallbackResponder<Context> { request, context in
            var context = context
            context.cost = cost
            if countsPeers, let peer = context.peer { try count(cost, peer) }
            guard let gate else { return try await handler(request, context) }
            return try await gate.handle(request, context: context) { request, context in
                if let user = context.user { try count(cost, .user(user)) }
                return try await handler(request, context)
            }
        }
        wrapped.on(whole, method: method, responder: responder)
    }
}
