import Fixtures
import Foundation
import Testing

/// Runs a walk that starts its own store, nodes and carrier.
private func expectWalk(_ script: String, _ arguments: [String] = [], seconds: Double = 400) async throws {
    let output = try await expectScript(
        "Devices/\(script).py",
        [
            "--countersign", try RunningService.product("countersign"), "--policies",
            RunningService.root.appending(path: "Policies").path,
        ] + arguments, seconds: seconds)
    FileHandle.standardError.write(Data(output.utf8))
}

/// Users with several devices and apps, on nodes that share PostgreSQL.
@Suite("Messaging on several nodes", .serialized)
struct MessagingWalkTests {
    @Test("ends on every node with a ban, a block, a cancellation, a forbidden app and a log-out on one of them")
    func endings() async throws {
        try await expectWalk("endings")
    }

    @Test("makes all devices of a user ring by pushes, for VoIP too, and ends the ringing on those that did not answer")
    func ringing() async throws {
        try await expectWalk("ringing")
    }

    @Test("is as its page says, for a client that was written from the page alone")
    func page() async throws {
        try await expectWalk("page")
    }
}

/// Devices that follow the pages of the protocol alone, on two nodes.
@Suite("Devices whose nodes are killed")
struct DeviceKillTests {
    private static func number(_ name: String, default value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
    }

    @Test("have the streams of a device that comes new, with all that was acknowledged, after every call of messages")
    func convergence() async throws {
        let kills = Self.number("COUNTERSIGN_KILLS", default: 4)
        let seed = Self.number("COUNTERSIGN_SEED", default: 1)
        try await expectWalk(
            "kills", ["--kills", "\(kills)", "--seed", "\(seed)"], seconds: 400 + 6 * Double(kills))
    }
}
