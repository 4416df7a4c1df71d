// swift-tools-version: 6.2
import PackageDescription

/// Every target of the house is built the same way: Swift 6 language mode, warnings as errors.
let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nio: [Target.Dependency] = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOTLS"].map {
    .product(name: $0, package: "swift-nio")
}

let package = Package(
    name: "countersign",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "countersign", targets: ["countersign"]),
        .executable(name: "sample-provider", targets: ["SampleProvider"]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.45.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: [.defaults, "YAML"]),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // System libraries: libssl for a CA key in an HSM, libpq for PostgreSQL, libjwt for the provider's side.
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"])]),

        .target(name: "Identity", dependencies: [crypto], swiftSettings: house),
        .target(name: "Tokens", dependencies: ["Identity", crypto, cryptoExtras], swiftSettings: house),
        .target(
            name: "Authority", dependencies: ["Identity", "COpenSSL", crypto, cryptoExtras, x509, asn1],
            swiftSettings: house),
        .target(name: "Cards", dependencies: ["Identity", crypto], swiftSettings: house),
        .target(
            name: "Database",
            dependencies: [
                "CPostgreSQL",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: house),
        .target(name: "Records", dependencies: ["Identity", "Database", crypto], swiftSettings: house),
        .target(
            name: "Delivery", dependencies: ["Identity", crypto, httpClient, nioSSL] + nio, swiftSettings: house),
        .target(
            name: "Operations",
            dependencies: ["Identity", "Tokens", "Authority", "Cards", "Delivery", "Database", "Records", crypto],
            swiftSettings: house),
        .target(
            name: "API",
            dependencies: [
                "Identity", "Operations", hummingbird, nioSSL, logging, lifecycle, crypto,
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
            resources: [.embedInCode("openapi.json")],
            swiftSettings: house),
        .executableTarget(
            name: "countersign",
            dependencies: [
                "Identity", "Tokens", "Authority", "Delivery", "Database", "Records", "Operations", "API", crypto,
                cryptoExtras, x509, asn1, httpClient, logging, lifecycle, nioSSL, hummingbird,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Yams", package: "Yams"),
            ] + nio,
            swiftSettings: house),
        .executableTarget(
            name: "SampleProvider",
            dependencies: [
                "CJWT", hummingbird, httpClient, logging, crypto, cryptoExtras, nioSSL,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ] + nio,
            swiftSettings: house),

        // Tests. `Fixtures` is what they share: an authority, a provider, a fixed clock, a store.
        .target(
            name: "Fixtures",
            dependencies: [
                "Identity", "Tokens", "Authority", "Cards", "Database", "Records", "Operations", crypto, cryptoExtras,
                x509, asn1,
            ],
            path: "Tests/Fixtures", swiftSettings: house),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Identity", "Tokens", "Cards", "Database", "Records", "Fixtures", crypto, cryptoExtras, hummingbird,
                logging, nioSSL, .product(name: "HummingbirdTLS", package: "hummingbird"),
            ] + nio,
            path: "Tests/Benchmarks", exclude: ["handshakes.py"], swiftSettings: house),
        .testTarget(name: "IdentityTests", dependencies: ["Identity", "Fixtures", crypto], swiftSettings: house),
        .testTarget(
            name: "TokensTests",
            dependencies: [
                "Identity", "Tokens", "Fixtures", "CJWT", crypto, cryptoExtras,
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "AuthorityTests",
            dependencies: ["Identity", "Authority", "Fixtures", crypto, cryptoExtras, x509, asn1], swiftSettings: house),
        .testTarget(name: "CardsTests", dependencies: ["Identity", "Cards", "Fixtures"], swiftSettings: house),
        .testTarget(
            name: "RecordsTests", dependencies: ["Identity", "Database", "Records", "Fixtures", crypto],
            swiftSettings: house),
        .testTarget(
            name: "DatabaseTests", dependencies: ["Database", "Fixtures"], swiftSettings: house),
        .testTarget(
            name: "DeliveryTests",
            dependencies: ["Identity", "Delivery", "Fixtures", crypto, httpClient] + nio, swiftSettings: house),
        .testTarget(
            name: "OperationsTests",
            dependencies: [
                "Identity", "Tokens", "Authority", "Delivery", "Database", "Records", "Operations", "Fixtures",
                crypto, cryptoExtras,
            ],
            swiftSettings: house),
        .testTarget(
            name: "APITests",
            dependencies: [
                "Identity", "Database", "Records", "Operations", "API", "Fixtures", hummingbird, logging,
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ] + nio,
            swiftSettings: house),
        .testTarget(
            name: "CountersignTests",
            dependencies: [
                "Identity", "Database", "Records", "Operations", "Fixtures", "countersign", "SampleProvider",
                httpClient, nioSSL, crypto,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Vectors"], swiftSettings: house),
    ]
)
