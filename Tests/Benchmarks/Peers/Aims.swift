import Foundation

/// One figure of the service beside that of a peer, of the same run.
struct Comparison: Sendable {
    /// What was measured and its unit, such as `GET /sessions/current, CPU µs`.
    let figure: String
    let own: Double
    let peer: String
    let other: Double

    var ratio: Double { own / other }

    /// The aim of this figure; `nil` if it has none.
    var aim: Aim? { Aim.all.first { $0.figure == figure && $0.peer == peer } }

    var isMet: Bool? {
        switch aim?.most {
        case .ratio(let most): ratio <= most
        case .value(let most): own <= most
        case nil: nil
        }
    }
}

/// The most that a figure should be.
struct Aim: Sendable {
    enum Most: Sendable {
        /// Times the peer's figure.
        case ratio(Double)
        case value(Double)
    }

    let figure: String
    let peer: String
    let most: Most

    static let all = [
        Aim(figure: "GET /sessions/current, CPU µs", peer: "nginx", most: .ratio(1.45)),
        Aim(figure: "GET /sessions/current, CPU µs", peer: "node", most: .ratio(0.5)),
        Aim(figure: "GET /sessions/current over HTTP/2, CPU µs", peer: "nginx", most: .ratio(2)),
        Aim(figure: "POST /sessions RS256, a known user, CPU µs", peer: "node", most: .ratio(1)),
        Aim(figure: "a certificate, CPU µs", peer: "cfssl", most: .ratio(1)),
        Aim(figure: "a message appended, CPU µs", peer: "a sign-in without its signature", most: .ratio(0.8)),
        Aim(figure: "a sign-in, each recorded, p50 ms", peer: "only counted", most: .ratio(1.1)),
        Aim(
            figure: "a mobile document by the Digital Credentials API, CPU µs", peer: "openvc", most: .value(400)),
        Aim(figure: "a mobile document by org-iso-mdoc, CPU µs", peer: "openvc", most: .value(400)),
        Aim(figure: "an SD-JWT by the Digital Credentials API, CPU µs", peer: "openvc", most: .value(400)),
        Aim(figure: "an idle mutual-TLS connection, KiB", peer: "nginx", most: .value(30)),
    ]
}

extension Aim: CustomStringConvertible {
    var description: String {
        switch most {
        case .ratio(let most): "≤ \(most.places(2)) ×"
        case .value(let most): "≤ \(most.places(0))"
        }
    }
}

/// One round of a call at one server.
struct Round: Sendable, Encodable {
    let figure: String
    let server: String
    let round: Int
    let microseconds: Double
    let perSecond: Double
    let p50: Double
    let p99: Double

    init(_ figure: String, _ server: String, _ round: Int, _ load: Load) {
        (self.figure, self.server, self.round) = (figure, server, round)
        (microseconds, perSecond, p50, p99) = (load.microseconds, load.perSecond, load.p50, load.p99)
    }
}
