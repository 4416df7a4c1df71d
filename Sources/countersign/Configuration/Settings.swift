import Database
import Domain
import Encoding
import Foundation
import Yams

/// Paths, addresses and modes of the service: from flags, then the environment, then ``file``, then the defaults.
/// Every text is parsed here.
struct Settings: Sendable, Equatable {
    /// The settings; the names are those of the flags and of the keys in `countersign.yaml`.
    enum Key: String, CaseIterable, Sendable {
        case keys, policies, store, cell, realm, texts, limits
        case publicListener = "public"
        case clientListener = "client"
        case opsListener = "ops"
        case stun, console
        case opsTLS = "ops-tls"
        case baseURL = "base-url"
        case clientURL = "client-url"
        case allowOtherPolicies = "allow-other-policies"
        case loopbackURLs = "loopback-urls"
        case development
        case otlpEndpoint = "otlp-endpoint"

        var variable: String { "COUNTERSIGN_" + rawValue.uppercased().replacing("-", with: "_") }
    }

    /// The directory of the keys.
    let keys: String
    /// The directory of the policies.
    let policies: String
    /// Whether the policies' directory was given explicitly, so that it must exist.
    let policiesNamed: Bool
    let store: StoreURL
    /// The cell of the store and of every new identifier.
    let cell: Cell
    let publicAddress: ListenAddress
    let clientAddress: ListenAddress
    let opsAddress: ListenAddress
    /// The UDP address for STUN; `nil` if it is off.
    let stunAddress: ListenAddress?
    /// The address of the administrators' console; `nil` if it is off.
    let consoleAddress: ListenAddress?
    /// Whether the ops listener uses TLS with the server's certificate.
    let opsTLS: Bool
    let realm: String
    /// The public listener's external URL without a trailing slash; `nil` to derive it from the address.
    let baseURL: String?
    /// The client listener's external URL; `nil` to derive it from the address.
    let clientURL: String?
    let realmNamed: Bool
    /// The path of the `file` sender.
    let texts: String
    /// Whether rate limits are enforced.
    let limits: Bool
    /// Whether other nodes on the store may have different policies.
    let allowsOtherPolicies: Bool

    /// The collector of spans; `nil` if tracing is off.
    let otlpEndpoint: ServiceURL?

    /// Whether providers may name URLs on this machine, http ones too; on in development mode.
    let allowsLoopbackURLs: Bool
    /// Whether the service runs in development mode: see ``requireServable()`` and `Database.requireMode`.
    let isDevelopment: Bool

    /// Whether every listener is on loopback.
    var isLoopbackOnly: Bool { addresses.allSatisfy(\.isLoopback) }

    private var addresses: [ListenAddress] {
        [publicAddress, clientAddress, opsAddress] + [stunAddress, consoleAddress].compactMap(\.self)
    }

    /// `countersign.yaml` in the working directory; if there is none, the one that `make run` wrote for its own
    /// store.
    ///
    /// - Parameter directory: the working directory with a trailing slash, or empty.
    static func file(in directory: String = "") -> String {
        let own = directory + "countersign.yaml"
        let run = directory + ".run/countersign.yaml"
        let files = FileManager.default
        return !files.fileExists(atPath: own) && files.fileExists(atPath: run) ? run : own
    }

    /// Resolves the settings. A flag takes precedence over its variable, the file and the default, in this order.
    ///
    /// - Parameters:
    ///   - shared: the flags of every command.
    ///   - serve: the flags of `serve`, if the command has them.
    ///   - environment: the process's variables.
    ///   - file: a file of settings; it may be missing.
    ///   - isServed: whether to refuse values with which the service must not start.
    /// - Throws: ``CommandFailure``: exit code 2 if a value cannot be parsed, 1 if values contradict each other.
    static func resolve(
        shared: SharedOptions, serve: ServeOptions? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment, file: String = Settings.file(),
        isServed: Bool = true
    ) throws(CommandFailure) -> Settings {
        let flags = shared.given.merging(serve?.given ?? [:]) { first, _ in first }
        let written = try read(file)
        var texts: [Key: String] = [:]
        for key in Key.allCases {
            texts[key] = (flags[key] ?? nil) ?? environment[key.variable] ?? written[key]
        }
        let settings = try Settings(texts)
        if serve != nil, isServed { try settings.requireServable() }
        return settings
    }

    /// Parses a file of settings. A misspelt key is refused, because otherwise a default would silently stay in force.
    private static func read(_ file: String) throws(CommandFailure) -> [Key: String] {
        guard FileManager.default.fileExists(atPath: file) else { return [:] }
        let (entries, defects) = PolicyDocument.read(path: file)
        if let defect = defects.first { throw CommandFailure(defect.description + ".", exitCode: .usage) }
        var texts: [Key: String] = [:]
        for entry in entries {
            guard let key = Key(rawValue: entry.key) else {
                let unknown = UnknownKey.sentence(entry.key, known: Key.allCases.map(\.rawValue))
                throw CommandFailure("\(file):\(entry.line): \(unknown)", exitCode: .usage)
            }
            guard let text = entry.value.scalar?.string else {
                throw CommandFailure("\(key.rawValue) in \(file) must be one plain value.", exitCode: .usage)
            }
            texts[key] = text
        }
        return texts
    }

    init(_ texts: [Key: String]) throws(CommandFailure) {
        keys = try Self.path(texts, .keys, default: "Keys")
        policies = try Self.path(texts, .policies, default: "Policies")
        policiesNamed = texts[.policies] != nil
        do {
            store = try StoreURL.parse(texts[.store] ?? "sqlite:countersign.db")
        } catch {
            if texts[.store] == "sqlite::memory:" { throw CommandFailure("--store: \(error).", exitCode: .usage) }
            throw Self.unreadable(.store, "the address of a store such as sqlite:countersign.db")
        }
        guard let cell = Cell(texts[.cell] ?? Cell.first.description) else {
            throw Self.unreadable(.cell, "a number from 0 to 4095")
        }
        self.cell = cell
        publicAddress = try Self.address(texts, .publicListener, default: "127.0.0.1:8440")
        clientAddress = try Self.address(texts, .clientListener, default: "127.0.0.1:8441")
        opsAddress = try Self.address(texts, .opsListener, default: "127.0.0.1:8442")
        stunAddress = try texts[.stun].map { text throws(CommandFailure) in
            try Self.address(texts, .stun, default: text)
        }
        consoleAddress = try texts[.console].map { text throws(CommandFailure) in
            try Self.address(texts, .console, default: text)
        }
        realm = texts[.realm] ?? "localhost"
        guard (1...255).contains(realm.utf8.count),
            realm.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { throw Self.unreadable(.realm, "1 to 255 printable ASCII characters without space, \" and \\") }
        realmNamed = texts[.realm] != nil
        baseURL = try Self.webAddress(texts, .baseURL)
        clientURL = try Self.webAddress(texts, .clientURL)
        self.texts = try Self.path(texts, .texts, default: Self.textsBeside(store))
        isDevelopment = try Self.flag(texts, .development, default: false)
        limits = try Self.flag(texts, .limits, default: !isDevelopment)
        opsTLS = try Self.flag(texts, .opsTLS, default: false)
        allowsOtherPolicies = try Self.flag(texts, .allowOtherPolicies, default: false)
        allowsLoopbackURLs = try Self.flag(texts, .loopbackURLs, default: isDevelopment)
        otlpEndpoint = try Self.collector(texts)
    }

    /// Returns if the service may start with these values. Commands that start no service do not call it.
    func requireServable() throws(CommandFailure) {
        guard opsAddress.isLoopback || opsTLS else {
            throw CommandFailure("\(opsAddress) is not on loopback. Add --ops-tls for the ops listener.")
        }
        if isDevelopment { try requireDevelopable() }
        guard !allowsLoopbackURLs || isLoopbackOnly else {
            throw CommandFailure("--loopback-urls is accepted only if all listeners are on loopback.")
        }
        guard limits || isLoopbackOnly else {
            throw CommandFailure("Limits can be off only if all listeners are on loopback.")
        }
        guard baseURL == nil || baseURL != clientURL else {
            throw CommandFailure("--base-url and --client-url must differ: they name two listeners.")
        }
        guard !isLoopbackOnly else { return }
        let unset = [
            (realmNamed, "--realm, the name by which providers and devices know the service"),
            (baseURL != nil, "--base-url, the public listener as seen from outside, such as https://auth.example"),
            (
                clientURL != nil,
                "--client-url, the client listener as seen from outside, such as https://auth.example:8441"
            ),
        ].filter { !$0.0 }.map(\.1)
        guard unset.isEmpty else {
            let away = addresses.filter { !$0.isLoopback }
            throw CommandFailure(
                "The service would listen off loopback (\(away.map(\.description).joined(separator: ", "))), and its "
                    + "certificates and documents would name addresses that cannot be reached from outside: set "
                    + "\(unset.joined(separator: "; ")).")
        }
    }

    /// Development mode is for callers on this machine only.
    private func requireDevelopable() throws(CommandFailure) {
        guard isLoopbackOnly else {
            throw CommandFailure("--development is accepted only if all listeners are on loopback.")
        }
        for url in [baseURL, clientURL].compactMap(\.self) where WebAddress(url)?.isLoopback != true {
            throw CommandFailure("--development is refused with \(url), which is not on this machine.")
        }
    }

    /// Returns if the policies may be in force in this mode.
    func requireServable(_ policy: Policy) throws(CommandFailure) {
        guard isDevelopment, !policy.requests.proxiedNetworks.isEmpty else { return }
        throw CommandFailure(
            "--development is refused with proxied_networks in requests.yaml: a proxy admits other machines."
        )
    }

    private static func flag(_ texts: [Key: String], _ key: Key, default value: Bool) throws(CommandFailure) -> Bool {
        switch texts[key] {
        case nil: value
        case "on": true
        case "off": false
        default: throw unreadable(key, "on or off")
        }
    }

    private static func path(_ texts: [Key: String], _ key: Key, default path: String) throws(CommandFailure) -> String
    {
        let path = texts[key] ?? path
        guard (1...4096).contains(path.utf8.count), !path.utf8.contains(0) else { throw unreadable(key, "a path") }
        return path
    }

    private static func address(
        _ texts: [Key: String], _ key: Key, default text: String
    ) throws(CommandFailure) -> ListenAddress {
        guard let address = ListenAddress(texts[key] ?? text) else {
            throw unreadable(key, "an IP address and a port such as 127.0.0.1:8440 or [::1]:0")
        }
        return address
    }

    private static func webAddress(_ texts: [Key: String], _ key: Key) throws(CommandFailure) -> String? {
        guard let given = texts[key] else { return nil }
        let text = given.hasSuffix("/") ? String(given.dropLast()) : given
        // Both listeners use TLS, also behind a proxy.
        guard let url = WebAddress(text), url.isSecure, url.query.isEmpty, !text.contains("?")
        else { throw unreadable(key, "a URL such as https://auth.example without account, query and fragment") }
        return text
    }

    private static func collector(_ texts: [Key: String]) throws(CommandFailure) -> ServiceURL? {
        guard let text = texts[.otlpEndpoint] else { return nil }
        guard let url = ServiceURL(text), url.appending("/v1/traces") != nil else {
            throw unreadable(
                .otlpEndpoint, "an https URL without query such as https://collector.example:4318, or http on loopback")
        }
        return url
    }

    private static func textsBeside(_ store: StoreURL) -> String {
        switch store {
        case .sqlite(let path):
            guard let slash = path.lastIndex(of: "/") else { return "texts.jsonl" }
            return path[...slash] + "texts.jsonl"
        case .postgresql: return "texts.jsonl"
        }
    }

    private static func unreadable(_ key: Key, _ expected: String) -> CommandFailure {
        CommandFailure("--\(key.rawValue) (\(key.variable)) must be \(expected).", exitCode: .usage)
    }
}
