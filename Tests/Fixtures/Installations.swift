import Foundation

/// Keys, a migrated store and a registered provider, as a service needs them to start. They are made once, by an operator's
/// commands, and copied for each service, because making them takes four processes.
actor Installations {
    static let shared = Installations()

    private var made: [Bool: Task<URL, any Error>] = [:]
    private let scratch = Result { try ScratchDirectory.untilExit() }

    /// Copies keys, store and provider into the directory of a service.
    ///
    /// - Parameter withStore: whether the store is copied, and with it the provider, which it names.
    func copy(development: Bool, to directory: URL, withStore: Bool = true) async throws {
        let template = URL(filePath: try scratch.get().path).appending(path: development ? "development" : "plain")
        let task =
            made[development]
            ?? Task {
                try FileManager.default.createDirectory(at: template, withIntermediateDirectories: false)
                try FileManager.default.copyItem(
                    at: RunningService.root.appending(path: "Policies"), to: template.appending(path: "Policies"))
                try await Installation(directory: template, environment: [:]).make(development: development)
                try FileManager.default.removeItem(at: template.appending(path: "Policies"))
                return template
            }
        made[development] = task
        let made = try await task.value
        try await onOwnThread {
            let names = try FileManager.default.contentsOfDirectory(atPath: made.path)
            for name in names where withStore || ["Keys", "provider.key", "provider.pem"].contains(name) {
                try FileManager.default.copyItem(
                    at: made.appending(path: name), to: directory.appending(path: name))
            }
        }
    }
}

/// A directory in which the commands of the service act.
struct Installation {
    let directory: URL
    /// The address of the store; `nil` for a file in the directory.
    var store: String?
    let environment: [String: String]

    func path(_ name: String) -> String { directory.appending(path: name).path }

    /// Makes keys, a store and a provider.
    func make(development: Bool) async throws {
        let keys = try await countersign(["keys", "init"])
        guard keys.status == 0 else { throw RunningService.NotReady(description: keys.errors) }
        try await makeProviderKey()
        try await fillStore(development: development)
    }

    /// Makes a store and a provider for the keys that are there.
    func fillStore(development: Bool) async throws {
        if development {
            let marked = try await countersign(["store", "migrate", "--development"])
            guard marked.status == 0 else { throw RunningService.NotReady(description: marked.errors) }
        }
        try await addProvider()
    }

    private func makeProviderKey() async throws {
        _ = try await Command.run(
            "openssl",
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", path("provider.key")])
        _ = try await Command.run(
            "openssl", ["pkey", "-in", path("provider.key"), "-pubout", "-out", path("provider.pem")])
    }

    private func addProvider() async throws {
        let added = try await countersign([
            "provider", "add", "--name", "Test", "--slug", "test", "--key", path("provider.pem"), "--json",
        ])
        guard added.status == 0 else { throw RunningService.NotReady(description: added.errors) }
        try added.output.write(toFile: path("provider.json"), atomically: true, encoding: .utf8)
    }

    /// Runs an admin command on the keys, policies and store of the directory, unless its arguments name others.
    func countersign(_ arguments: [String]) async throws -> Command.Result {
        try await Command.run(
            try RunningService.product("countersign"), arguments + places(besides: arguments), environment: environment)
    }

    /// The options for keys, policies and store, except those that the arguments have already.
    func places(besides arguments: [String]) -> [String] {
        [
            ("--keys", path("Keys")), ("--policies", path("Policies")),
            ("--store", store ?? "sqlite:\(path("store.db"))"),
        ].flatMap { arguments.contains($0.0) ? [] : [$0.0, $0.1] }
    }
}
