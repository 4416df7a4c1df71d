import Domain
import Fixtures
import Foundation
import PhoneNumbers
import Testing

@testable import countersign

@Suite("What a newcomer starts", .serialized)
struct TourTests {
    @Test("walks to two verified users, one of whom is banned, and again on the same store, with every limit in force")
    func tour() async throws {
        let countersign = try RunningService.product("countersign")
        // The service trusts an invented issuer, so the tour has a wallet.
        let service = try await RunningService(
            policies: ["wallet.yaml": "enabled: true\n"], arguments: ["--limits", "on"],
            prepare: { directory in
                let made = try await Command.run(
                    countersign, ["sample", "wallet", "issuer", "--keys", directory.appending(path: "Keys").path])
                #expect(made.status == 0, "\(made)")
            })
        try await expectScript(
            "Documents/tour.py",
            service.clientArguments + [
                "--countersign", countersign, "--sample", try RunningService.product("sample-provider"), "--directory",
                service.directory.path, "--times",
                "\(Soak.count(2, soak: 8))",
            ], seconds: 400)
    }

    @Test("is one script: it starts, walks the tour, stays up, stops when it is told to, and starts again")
    func script() async throws {
        let binaries = URL(filePath: try RunningService.product("countersign")).deletingLastPathComponent().path
        try await expectScript(
            "Documents/run.py", ["--root", RunningService.root.path, "--binaries", binaries], seconds: 400)
    }

    @Test("texts to numbers that belong to nobody, and that the service takes")
    func numbers() throws {
        #expect(Set(TourPlace.areaCodes).count == TourPlace.areaCodes.count && TourPlace.areaCodes.count > 200)
        let policy = PhonePolicy()
        for code in TourPlace.areaCodes {
            let number = try PhoneNumber(reading: "+1\(code)5550199")
            #expect(policy.countries.contains(number.region) && number.e164 == "+1\(code)5550199", "\(code)")
            #expect(!policy.refusedTypes.contains(number.type.rawValue), "\(code)")
        }
        #expect(TourPlace.phoneNumber().contains(/^\+1[2-9][0-9]{2}55501[0-9]{2}$/))
        let here = "https://127.0.0.1:8440"
        #expect(TourPlace.address(reaching: [here]).map { ListenAddress("\($0):1")?.isLoopback } == true)
        #expect(TourPlace.address(reaching: [here, "https://auth.example"]) == nil)
        #expect(TourPlace.address(reaching: [here, "https://127.0.0.1.example"]) == nil)
    }

    @Test("is the README's flow in curl, as it stands there")
    func readme() async throws {
        let service = try await RunningService(arguments: ["--development"])
        try await expectScript(
            "Documents/readme.py",
            service.clientArguments + [
                "--sample", try RunningService.product("sample-provider"), "--countersign",
                try RunningService.product("countersign"), "--readme",
                RunningService.root.appending(path: "README.md").path,
            ], seconds: 400)
    }

    @Test("is a sample provider that registers, logs in, signs and limits guesses, judged by PyJWT")
    func sampleProvider() async throws {
        try await expectScript(
            "Samples/sample.py", ["--binary", try RunningService.product("sample-provider")], seconds: 400)
    }
}
