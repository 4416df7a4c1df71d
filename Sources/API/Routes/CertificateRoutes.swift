import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import Operations

/// Certification of devices: the first certificate on the public listener, everything else on the client listener.
package struct CertificateRoutes: Sendable {
    let service: Service
    let publish: RevocationLists
    let verifyCaptcha: @Sendable (String) async throws -> Bool
    private let chain: ByteBuffer
    private let lists = RevocationListBuffers()

    /// - Parameter verifyCaptcha: verifies a captcha's response at the siteverify endpoint.
    package init(
        _ service: Service, publish: RevocationLists,
        verifyCaptcha: @escaping @Sendable (String) async throws -> Bool
    ) {
        self.service = service
        self.publish = publish
        self.verifyCaptcha = verifyCaptcha
        chain = ByteBuffer(string: service.authorityCertificates.joined())
    }

    func addPublic(to router: ListedRouter<PublicContext>) {
        router.post("certificates", cost: .write) { request, context in
            var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
            let wanted = Service.DeviceRequest(
                csr: try members.string("csr"), presenceKey: try members.optionalString("presence_key"),
                enrolmentToken: try members.optionalString("enrolment_token"),
                captcha: try members.optionalString("captcha"), attestation: try members.optionalAttestation(),
                address: context.addressKey)
            try members.rejectUnknown()
            var response = answer(try await service.certifyDevice(wanted, verifyCaptcha: verifyCaptcha))
            // The device's next connection is mutual TLS.
            response.headers[.connection] = "close"
            return response
        }
        router.post("attestation-challenges", cost: .free) { _, _ in
            let (challenge, expiresAt) = service.issueAttestationChallenge()
            return .json(
                status: .created,
                ["challenge": .string(challenge), "expires_at": .string(expiresAt.rfc3339)])
        }
        router.get("certificates/authority", cost: .free) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/pem-certificate-chain"],
                body: ResponseBody(shared: chain))
        }
        router.get("certificates/revocations", cost: .free, query: ["authority"]) { request, _ in
            guard let published = publish.of(request.uri.queryParameters["authority"].map(String.init)) else {
                throw Refusal.unknownAuthority
            }
            let document = try await published.document()
            let wantsPEM = request.headers.accept("application/x-pem-file")
            // A long list is megabytes, so a client that has it already gets 304.
            let tag = EntityTag("\(published.authorityID.base64URL)-\(document.number)-\(wantsPEM ? "pem" : "der")")
            var headers: HTTPFields = [
                .cacheControl: "max-age=300", .eTag: tag.description, .vary: "Accept",
            ]
            guard !tag.isKnown(to: request.headers) else { return Response(status: .notModified, headers: headers) }
            headers[.contentType] = wantsPEM ? "application/x-pem-file" : "application/pkix-crl"
            let list = wantsPEM ? lists.pem(of: document) : lists.der(of: document)
            return Response(status: .ok, headers: headers, body: ResponseBody(shared: list))
        }
    }

    func addClient(to router: ListedRouter<ClientContext>) {
        router.post("certificates/renewal", cost: .write) { request, context in
            let bytes = try await request.bytes(upTo: service.policy[\.requests].maximumBody)
            var csr: String?
            var evidence: Service.AttestationEvidence?
            if !bytes.isEmpty {
                var members = try request.members(bytes)
                csr = try members.optionalString("csr")
                evidence = try members.optionalAttestation()
                try members.rejectUnknown()
            }
            return answer(
                try await service.renewCertificate(csr: csr, evidence: evidence, on: try context.connection))
        }
        router.delete("certificates/current", cost: .write) { _, context in
            try await service.revokeOwnCertificate(of: try context.connection)
            Counter(label: "certificates_revoked").increment()
            return Response(status: .noContent, headers: [.connection: "close"])
        }
    }

    private func answer(_ certified: CertifiedDevice) -> Response {
        if !certified.isRepeated { Counter(label: "certificates_issued").increment() }
        let certificate = certified.certificate
        return .json(
            status: certified.isRepeated ? .ok : .created,
            [
                "certificate": .string(certified.certificatePEM),
                "chain": .array(certified.chainPEM.map { .string($0) }), "device_id": .id(certificate.deviceID),
                "serial": .string(certificate.serial), "not_before": .string(certificate.notBefore.rfc3339),
                "not_after": .string(certificate.notAfter.rfc3339),
                "renew_after": .string(certificate.renewAfter.rfc3339),
            ])
    }
}
