// swift-tools-version: 6.2
import PackageDescription

/// Every target is built the same way: Swift 6 language mode, warnings as errors.
let strictSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let encoding: Target.Dependency = .product(name: "Encoding", package: "SwiftSDK")
let herald: Target.Dependency = .product(name: "Herald", package: "SwiftSDK")
let client: Target.Dependency = .product(name: "CountersignClient", package: "SwiftSDK")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nio: [Target.Dependency] = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOTLS"].map {
    .product(name: $0, package: "swift-nio")
}

/// The commit that is built, for `countersign --version`. The Makefile names it, since an archive of the sources has no history.
let commit: [CSetting] =
    switch Context.environment["COUNTERSIGN_COMMIT"] ?? "" {
    case "": []
    case let name: [.define("COUNTERSIGN_COMMIT", to: name)]
    }

let samples: [Target] = ["Forum", "Msgr", "Reader"].map { name in
    .executableTarget(
        name: name,
        dependencies: [
            "SampleBackend", hummingbird, httpClient, logging, crypto, nioSSL,
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "NIOWebSocket", package: "swift-nio"),
            .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
        ] + nio,
        path: "Sources/Samples/\(name)", exclude: ["README.md"], swiftSettings: strictSettings)
}

let package = Package(
    name: "countersign",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "countersign", targets: ["countersign"]),
        .executable(name: "sample-provider", targets: ["SampleProvider"]),
        .executable(name: "forum", targets: ["Forum"]),
        .executable(name: "msgr", targets: ["Msgr"]),
        .executable(name: "reader", targets: ["Reader"]),
    ],
    dependencies: [
        // The SDK, which knows only the wire, and what the service has in common with it.
        .package(path: "Sources/SwiftSDK"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // System libraries: libssl for a CA key in an HSM and RSA signatures, libpq for PostgreSQL, libjwt for the provider's side.
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"])]),

        .target(name: "CBuild", cSettings: commit),
        .target(
            name: "Traces",
            dependencies: [encoding, .product(name: "Tracing", package: "swift-distributed-tracing")],
            swiftSettings: strictSettings),
        .target(name: "PhoneNumbers", exclude: ["NOTICE.md"], swiftSettings: strictSettings),
        .target(name: "Domain", dependencies: [encoding, "PhoneNumbers", crypto], swiftSettings: strictSettings),
        .target(
            name: "Tokens", dependencies: [encoding, "PhoneNumbers", "Domain", "COpenSSL", crypto, cryptoExtras],
            swiftSettings: strictSettings),
        .target(
            name: "Authority", dependencies: [encoding, "Domain", "COpenSSL", crypto, cryptoExtras, x509, asn1],
            swiftSettings: strictSettings),
        .target(name: "Cards", dependencies: [encoding, "Domain", crypto], swiftSettings: strictSettings),
        .target(
            name: "Database",
            dependencies: [
                "CPostgreSQL",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strictSettings),
        .target(
            name: "Repositories", dependencies: [encoding, "PhoneNumbers", "Domain", "Database", crypto],
            swiftSettings: strictSettings),
        .target(
            name: "Delivery",
            dependencies: [
                encoding, "Traces", "PhoneNumbers", "Domain", crypto, httpClient, nioSSL,
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ] + nio,
            swiftSettings: strictSettings),
        .target(
            name: "Operations",
            dependencies: [
                encoding, "PhoneNumbers", "Domain", "Tokens", "Authority", "Cards", "Delivery", "Database",
                "Repositories", crypto,
            ],
            swiftSettings: strictSettings),
        .target(
            name: "API",
            dependencies: [
                encoding, "Traces", "Domain", "Operations", herald, hummingbird, nioSSL, logging, lifecycle,
                crypto,
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Metrics", package: "swift-metrics"),
            ] + nio,
            exclude: ["openapi.json"],
            swiftSettings: strictSettings),
        .target(
            name: "Console",
            dependencies: [
                encoding, "Domain", "Authority", "Operations", crypto, hummingbird, nioSSL,
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ] + nio,
            swiftSettings: strictSettings),
        .executableTarget(
            name: "countersign",
            dependencies: [
                "CBuild", client, encoding, "Traces", "Domain", "Tokens", "Authority", "Cards", "Delivery",
                "Database",
                "Repositories", "Operations", "API", "Console", crypto,
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                cryptoExtras, x509, asn1, httpClient, logging, lifecycle, nioSSL, hummingbird,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Yams", package: "Yams"),
            ] + nio,
            swiftSettings: strictSettings),
        .executableTarget(
            name: "SampleProvider",
            dependencies: [
                "CJWT", hummingbird, httpClient, logging, crypto, cryptoExtras, nioSSL,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ] + nio,
            swiftSettings: strictSettings),
        // Samples: what they have in common, and each as a small server.
        .target(
            name: "SampleBackend",
            dependencies: [
                hummingbird, httpClient, logging, lifecycle, crypto, cryptoExtras, nioSSL,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ] + nio,
            path: "Sources/Samples/Backend", swiftSettings: strictSettings),
    ] + samples + [

        // Tests. `Fixtures` is what they share: an authority, a provider, a fixed clock, a store.
        .target(
            name: "Fixtures",
            dependencies: [
                encoding, "PhoneNumbers", "Domain", "Tokens", "Authority", "Cards", "Delivery", "Database",
                "Repositories", "Operations", herald, crypto, cryptoExtras, x509, asn1,
            ],
            path: "Tests/Fixtures", swiftSettings: strictSettings),
        // The app of the SDK's page, as it stands there.
        .executableTarget(
            name: "FirstApp", dependencies: [client], path: "Tests/FirstApp", swiftSettings: strictSettings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                encoding, "PhoneNumbers", "Domain", "Tokens", "Authority", "Cards", "Database", "Repositories",
                "Operations", herald, "Fixtures", crypto, cryptoExtras, hummingbird,
                logging, nioSSL, .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
            ] + nio,
            path: "Tests/Benchmarks", exclude: ["chart.py", "handshakes.py", "peer.cjs", "peers.svg", "RESULTS.md"],
            swiftSettings: strictSettings),
        .testTarget(
            name: "EncodingTests", dependencies: [encoding, "Domain", "Fixtures"], swiftSettings: strictSettings),
        .testTarget(
            name: "HeraldTests", dependencies: [encoding, herald, "Fixtures"], swiftSettings: strictSettings),
        .testTarget(
            name: "TracesTests",
            dependencies: [
                encoding, "Traces", "Fixtures", .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strictSettings),
        .testTarget(
            name: "PhoneNumbersTests", dependencies: ["PhoneNumbers", "Fixtures"], swiftSettings: strictSettings),
        .testTarget(
            name: "DomainTests", dependencies: [encoding, "PhoneNumbers", "Domain", "Fixtures", crypto],
            swiftSettings: strictSettings),
        .testTarget(
            name: "TokensTests",
            dependencies: [
                encoding, "PhoneNumbers", "Domain", "Tokens", "Fixtures", "CJWT", crypto, cryptoExtras,
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: strictSettings),
        .testTarget(
            name: "AuthorityTests",
            dependencies: [encoding, "Domain", "Authority", "Fixtures", crypto, cryptoExtras, x509, asn1],
            swiftSettings: strictSettings),
        .testTarget(
            name: "CardsTests", dependencies: [encoding, "Domain", "Cards", "Fixtures", crypto],
            swiftSettings: strictSettings),
        .testTarget(
            name: "RepositoriesTests",
            dependencies: [encoding, "Domain", "Database", "Repositories", "Fixtures", crypto],
            exclude: ["Sealing/Vectors"], swiftSettings: strictSettings),
        .testTarget(
            name: "DatabaseTests", dependencies: ["Database", "Fixtures"], swiftSettings: strictSettings),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [encoding, "PhoneNumbers", "Domain", "Delivery", "Fixtures", crypto, httpClient] + nio,
            swiftSettings: strictSettings),
        .testTarget(
            name: "OperationsTests",
            dependencies: [
                encoding, "PhoneNumbers", "Domain", "Tokens", "Authority", "Cards", "Delivery", "Database",
                "Repositories", "Operations", "Fixtures",
                crypto, cryptoExtras,
            ],
            swiftSettings: strictSettings),
        .testTarget(
            name: "APITests",
            dependencies: [
                encoding, "Traces", "Domain", "Tokens", "Database", "Repositories", "Operations", herald, "API",
                "Fixtures", hummingbird, .product(name: "Tracing", package: "swift-distributed-tracing"),
                logging,
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ] + nio,
            swiftSettings: strictSettings),
        .testTarget(
            name: "ConsoleTests",
            dependencies: [
                encoding, "API", "Authority", "Console", "Domain", "Database", "Repositories", "Operations", "Fixtures",
                crypto,
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strictSettings),
        .testTarget(
            name: "CountersignClientTests",
            dependencies: [
                client, .product(name: "CountersignSync", package: "SwiftSDK"), encoding, "Domain", "Tokens",
                "Fixtures", crypto, nioSSL,
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ] + nio,
            exclude: ["Stub"], swiftSettings: strictSettings),
        .testTarget(
            name: "CountersignTests",
            dependencies: [
                encoding, "PhoneNumbers", "Domain", "Tokens", "Delivery", "Database", "Repositories",
                "Operations", "Console", "Fixtures", "Traces", "countersign", "SampleProvider", "Forum", "Msgr",
                "Reader", "FirstApp", httpClient, nioSSL, crypto,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Vectors"], swiftSettings: strictSettings),
    ]
)
