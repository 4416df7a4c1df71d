import Foundation
import HTTPTypes

extension Countersign {
    /// Makes the device's key, and attests it if an attestor is given.
    ///
    /// - Returns: the key's public point.
    func makeKey(
        _ name: String, for deviceID: UUID, _ attestor: KeyAttestor?
    ) async throws(Refusal) -> (publicPoint: Data, attestation: Attestation?) {
        switch attestor {
        case nil: return (try await makePlainKey(name), nil)
        case .appAttest(let attest)?:
            let point = try await makePlainKey(name)
            let challenge = try await attestationChallenge()
            let digest = Attestation.digest(
                challenge: challenge, subject: try Attestation.subject(publicPoint: point))
            let made: (keyID: String, object: Data)
            do { made = try await attest(digest) } catch { throw .unattested(error) }
            return (
                point,
                Attestation(
                    kind: "app_attest", challenge: challenge, keyID: made.keyID,
                    object: made.object.base64EncodedString())
            )
        case .androidKey(let make)?:
            let challenge = try await attestationChallenge()
            let digest = Attestation.digest(challenge: challenge, subject: deviceID.path)
            let chain: [Data]
            do { chain = try await make(name, digest) } catch { throw .unattested(error) }
            let point: Data?
            do throws(StorageFailure) { point = try await keys.publicPoint(name) } catch { throw .storage(error) }
            guard let point else { throw .storage(.damaged) }
            return (
                point,
                Attestation(
                    kind: "android_key", challenge: challenge, chain: chain.map { $0.base64EncodedString() })
            )
        }
    }

    private func makePlainKey(_ name: String) async throws(Refusal) -> Data {
        do throws(StorageFailure) { return try await keys.make(name) } catch { throw .storage(error) }
    }

    private func attestationChallenge() async throws(Refusal) -> String {
        struct Issued: Decodable {
            let challenge: String
        }
        let answer = try await load().send(Call(.post, "/attestation-challenges", isRepeatable: true), as: nil)
        note(answer)
        if let problem = try answer.problem() { throw .service(problem) }
        let issued: Issued = try answer.decode()
        return issued.challenge
    }
}
