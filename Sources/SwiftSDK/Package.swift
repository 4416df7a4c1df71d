// swift-tools-version: 6.2
import PackageDescription

// The SDK, a package of its own: apps have other versions of the libraries below than the service, which pins each.
// `make sdk` writes it as a separate tree.

/// In the service's repository a warning is an error. A newer compiler or library must not end the build of an app.
let warnings: [SwiftSetting] =
    Context.packageDirectory.hasSuffix("/Sources/SwiftSDK") ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + warnings

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")

let package = Package(
    name: "CountersignClient",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "CountersignClient", targets: ["CountersignClient"]),
        .library(name: "CountersignSync", targets: ["CountersignSync"]),
        // The service has these in common with the SDK. They are not an interface for apps.
        .library(name: "Encoding", targets: ["Encoding"]),
        .library(name: "Herald", targets: ["Herald"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.82.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
    ],
    targets: [
        .target(
            name: "Encoding",
            dependencies: [crypto, cryptoExtras, .product(name: "SwiftASN1", package: "swift-asn1")],
            path: "Encoding", swiftSettings: settings),
        .target(
            name: "Herald", dependencies: ["Encoding"], path: "Herald", exclude: ["herald.thrift"],
            swiftSettings: settings),
        .target(
            name: "CountersignClient",
            dependencies: [
                "Encoding", "Herald", crypto, cryptoExtras,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
                + ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOTLS"].map { .product(name: $0, package: "swift-nio") },
            path: "CountersignClient", swiftSettings: settings),
        // Messages on the device. An app that sends none needs no database.
        .target(
            name: "CountersignSync",
            dependencies: ["CountersignClient", .product(name: "GRDB", package: "GRDB.swift")],
            path: "CountersignSync", swiftSettings: settings),
    ]
)
