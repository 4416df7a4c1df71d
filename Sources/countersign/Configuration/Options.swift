import ArgumentParser

/// The options of every command. The environment or `countersign.yaml` sets those that are not given.
struct SharedOptions: ParsableArguments {
    @Option(help: "The directory of the keys (COUNTERSIGN_KEYS; default Keys).")
    var keys: String?

    @Option(help: "The directory of the policies (COUNTERSIGN_POLICIES; default Policies).")
    var policies: String?

    @Option(
        help: "The store: sqlite:PATH or postgresql://HOST/NAME (COUNTERSIGN_STORE; default sqlite:countersign.db).")
    var store: String?

    @Option(help: "The number of this cell, 0 to 4095, which its store must have (COUNTERSIGN_CELL; default 0).")
    var cell: String?

    @Flag(help: "Print one JSON value on standard output.")
    var json = false

    @Option(help: "Name recorded in the audit log, in addition to the OS account.")
    var actor: String?

    /// The given options, by the names of ``Settings/Key``.
    var given: [Settings.Key: String?] { [.keys: keys, .policies: policies, .store: store, .cell: cell] }
}

/// The further options of `serve`.
struct ServeOptions: ParsableArguments {
    @Option(
        name: .customLong("public"),
        help: "The public listener, ADDR:PORT (COUNTERSIGN_PUBLIC; default 127.0.0.1:8440).")
    var publicListener: String?

    @Option(
        name: .customLong("client"),
        help: "The client listener, ADDR:PORT (COUNTERSIGN_CLIENT; default 127.0.0.1:8441).")
    var clientListener: String?

    @Option(
        name: .customLong("ops"), help: "The ops listener, ADDR:PORT (COUNTERSIGN_OPS; default 127.0.0.1:8442).")
    var opsListener: String?

    @Option(help: "The UDP address for STUN requests, ADDR:PORT (COUNTERSIGN_STUN; off by default).")
    var stun: String?

    @Option(help: "The admin console, ADDR:PORT, after `admin add` (COUNTERSIGN_CONSOLE; off by default).")
    var console: String?

    @Flag(help: "TLS for the ops listener, required off loopback (COUNTERSIGN_OPS_TLS=on).")
    var opsTLS = false

    @Option(help: "The realm's name (COUNTERSIGN_REALM; default localhost).")
    var realm: String?

    @Option(help: "The URL of the public listener as seen from outside (COUNTERSIGN_BASE_URL).")
    var baseURL: String?

    @Option(help: "The URL of the client listener as seen from outside (COUNTERSIGN_CLIENT_URL).")
    var clientURL: String?

    @Option(help: "The file for the text messages of the file sender (COUNTERSIGN_TEXTS).")
    var texts: String?

    @Flag(
        help: """
            Serve beside nodes with other policies during a rollout \
            (COUNTERSIGN_ALLOW_OTHER_POLICIES=on).
            """)
    var allowOtherPolicies = false

    @Flag(
        name: .customLong("loopback-urls"),
        help: """
            Let providers name URLs on this machine, http ones too: for development, on loopback only \
            (COUNTERSIGN_LOOPBACK_URLS=on).
            """)
    var loopbackURLs = false

    @Option(
        name: .customLong("otlp-endpoint"),
        help: "The OpenTelemetry collector that gets a span of each request, by OTLP/HTTP (COUNTERSIGN_OTLP_ENDPOINT).")
    var otlpEndpoint: String?

    @Option(help: "on or off; off lifts the rate limits, on loopback only (COUNTERSIGN_LIMITS; default on).")
    var limits: String?

    @Flag(
        help: """
            For developers, on loopback and a store of its own: no limits, test numbers with a known code, URLs on this \
            machine (COUNTERSIGN_DEVELOPMENT=on).
            """)
    var development = false

    /// The given options, by the names of ``Settings/Key``.
    var given: [Settings.Key: String?] {
        [
            .publicListener: publicListener, .clientListener: clientListener, .opsListener: opsListener, .stun: stun,
            .console: console,
            .opsTLS: opsTLS ? "on" : nil, .loopbackURLs: loopbackURLs ? "on" : nil,
            .allowOtherPolicies: allowOtherPolicies ? "on" : nil, .realm: realm,
            .otlpEndpoint: otlpEndpoint, .baseURL: baseURL, .clientURL: clientURL, .texts: texts, .limits: limits,
            .development: development ? "on" : nil,
        ]
    }
}
