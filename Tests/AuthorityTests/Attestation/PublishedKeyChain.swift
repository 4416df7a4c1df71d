import Domain
import Foundation
import Testing

/// A chain that Google publishes with its samples of Key Attestation: the key of a Pixel with the challenge `challenge`.
enum PublishedKeyChain {
    static let package = "com.google.attestationexample"
    /// A time at which all its certificates are valid.
    static let made = Date(timeIntervalSince1970: 1_677_628_800)

    /// The certificates in DER, the key's own first and the root's last. Their lines have 76 characters, for which
    /// `PEMDocument` has no reader.
    static func certificates() throws -> [[UInt8]] {
        try text.split(separator: "-----END CERTIFICATE-----").filter { $0.contains("BEGIN") }.map { part in
            let lines = part.split(separator: "\n").dropFirst().joined()
            return Array(try #require(Data(base64Encoded: lines)))
        }
    }

    private static let text = """
        -----BEGIN CERTIFICATE-----
        MIICuTCCAl+gAwIBAgIBATAKBggqhkjOPQQDAjA5MQwwCgYDVQQKEwNURUUxKTAnBgNVBAMTIGQw
        NWZhY2Y0NDNlZDUzNTU0OGQ5OTRmNjg0NWU2ZDNjMB4XDTcwMDEwMTAwMDAwMFoXDTQ4MDEwMTAw
        MDAwMFowHzEdMBsGA1UEAxMUQW5kcm9pZCBLZXlzdG9yZSBLZXkwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATlEk81F62fSuW5++oaWJuzZbgUovEpFp0uCA8tALfCeTtktSK61cUp86sMVI9lFxvo
        6QpTneTaRn3VkgaDeuXYo4IBcDCCAWwwDgYDVR0PAQH/BAQDAgeAMIIBWAYKKwYBBAHWeQIBEQSC
        AUgwggFEAgIAyAoBAQICAMgKAQEECWNoYWxsZW5nZQQAMIGCv4MQCAIGAYbBoxs/v4MRCAIGAYbB
        sl1/v4MSCAIGAYbBwZ+/v4U9CAIGAYbBo0KWv4VFTgRMMEoxJDAiBB1jb20uZ29vZ2xlLmF0dGVz
        dGF0aW9uZXhhbXBsZQIBATEiBCBohW0dBvY31iVfrOWyJNtDqVFKzlOLsVSLhESA/NhchzCBoaEF
        MQMCAQKiAwIBA6MEAgIBAKUFMQMCAQSqAwIBAb+DdwIFAL+FPgMCAQC/hUBMMEoEICasTGC+seN4
        NXytDDBhNHr432+6u7DYzqJEWFXuAeNoAQH/CgEABCDqpFM5V3TfoREhXGB7fQnxJVf3ZRXR+pcW
        lscdqxZ+Qb+FQQUCAwH70L+FQgUCAwMWPr+FTgYCBAE0sD2/hU8GAgQBNLA9MAoGCCqGSM49BAMC
        A0gAMEUCIQDn6o9XqsHmkT2d1EyzlGWJcZEyoXARjM3Hkmzm7vMvNwIgBWhp60QJKwr1VSNggJp+
        pJv2WJOxkdTOLHy85MJMXhU=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBxDCCAWqgAwIBAgIRANBfrPRD7VNVSNmU9oRebTwwCgYIKoZIzj0EAwIwKTETMBEGA1UEChMK
        R29vZ2xlIExMQzESMBAGA1UEAxMJRHJvaWQgQ0EzMB4XDTIzMDIxODAxMzM1MloXDTIzMDMyNDAx
        MzM1MlowOTEMMAoGA1UEChMDVEVFMSkwJwYDVQQDEyBkMDVmYWNmNDQzZWQ1MzU1NDhkOTk0ZjY4
        NDVlNmQzYzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHExGJmFHbe4bBnbxXer2haFmsyBMRCy
        HPdjwUzOQ1jKt+OhQ2JI0EQdJuDC4tyM2byZhxXlvP6itjzkLSju69qjYzBhMB0GA1UdDgQWBBQp
        APiyZzxgyCuIv++2jELSN/zsMjAfBgNVHSMEGDAWgBRgBjXo561pHSkjTd05NGwF7DylCjAPBgNV
        HRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAKBggqhkjOPQQDAgNIADBFAiBZK4xVrYp17UeA
        3XpKV9aXjFB8nXGdhpL6irqADHXBcgIhAItlP0fTqTocHWBuz4vxnZsZyAUgyio14rgmwsi0eVkb
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIB2DCCAV2gAwIBAgIUAIGiWxUvRzifGggDzLZIEaw9lcIwCgYIKoZIzj0EAwMwKTETMBEGA1UE
        ChMKR29vZ2xlIExMQzESMBAGA1UEAxMJRHJvaWQgQ0EyMB4XDTIzMDIxOTE4MjgzNloXDTIzMDMy
        NjE4MjgzNVowKTETMBEGA1UEChMKR29vZ2xlIExMQzESMBAGA1UEAxMJRHJvaWQgQ0EzMFkwEwYH
        KoZIzj0CAQYIKoZIzj0DAQcDQgAEFIf+wsXWQsQwKh86h02Jx/Lk2pn+n4SFErM0ypR4P9mtc1w3
        /FOnR/XYUSL4raXE2t0oc1tFtjXtebOajn1GMqNjMGEwDgYDVR0PAQH/BAQDAgIEMA8GA1UdEwEB
        /wQFMAMBAf8wHQYDVR0OBBYEFGAGNejnrWkdKSNN3Tk0bAXsPKUKMB8GA1UdIwQYMBaAFKYLhqTw
        yH8ztWE5Ys0956c6QoNIMAoGCCqGSM49BAMDA2kAMGYCMQDRxapkNz6xvgZugF/pEkeUNt2LdZS2
        dXFt+kF4OsY0VtuQFduSrLFa/FhuK46trWUCMQCRsy7zJhac0BU9/FeJ0v8M7N8zMQdnqRPpQWed
        9Zl0n6uyCpb50qiVVEH/dFgrX9k=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIDgDCCAWigAwIBAgIKA4gmZ2BliZaGDjANBgkqhkiG9w0BAQsFADAbMRkwFwYDVQQFExBmOTIw
        MDllODUzYjZiMDQ1MB4XDTIyMDEyNjIyNDk0NVoXDTM3MDEyMjIyNDk0NVowKTETMBEGA1UEChMK
        R29vZ2xlIExMQzESMBAGA1UEAxMJRHJvaWQgQ0EyMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE+9mb
        WCdCNnrRYaLr7VbNLAc72LMfLYTQmVdcLAz77DA0kz4o/jNcARQ9NDlJ9m31OW+ytv7djZF3Nvv1
        fYPvpnW+kqERpifwBvUnGOtCykgO4j0+4Gf+fqtLZxDz2SQqo2YwZDAdBgNVHQ4EFgQUpguGpPDI
        fzO1YTlizT3npzpCg0gwHwYDVR0jBBgwFoAUNmHhAHyIBQlRi0RsR/8aTMnqTxIwEgYDVR0TAQH/
        BAgwBgEB/wIBAjAOBgNVHQ8BAf8EBAMCAQYwDQYJKoZIhvcNAQELBQADggIBAK6Qdni2yhzXEukN
        03dze2QoFSzdKgOwm6DPhbbuGGAHB8Yfnv7JO0+1zoOUuHfWvww+5iF4BDUgTwf31agpwWkgyjSd
        51Lgtf/YHE/eaeJCiaNLanLFsPFoClSYTbmQje3f84hy4kUXKyrWo/eOEx87Mu7wfqUmou4E2of0
        Saw0CPdWw1CYJXfP6f0AG1Z2APKPprDtLESsYBdVeULgcAU36XZKrIai958AZtLKH6iP6zPiTkGr
        2t/iLqx735M4qIjidLhSZwRlY6WRcBsLJsisM5ft6kSpZB4IADird5UEOBoiZzgptdCa8T2tmWtC
        uv5MpOmMr70XBTWouXo95zCiT4Pnnhtp0k+jenjxbmnqDUJw+F5GoBhREGM3Kr7HRbJrG1BTIIRZ
        e8xFWHbHLkoAhvd/cMVtSYCshuXHuwiONN9vMPSLjn/JlEv1t4uI0n8agiW3oMqP0ig6QyC54SVA
        ctE93zfJr/QMjtLqCQZb56ICFb9knaWFLfdr8johjMtycf2UVoyEWu4iFd1Z4yyP/6YAq10CzIp2
        VhFrMVcYNuZ65PLt9p2XeuwyTd5Nhbn0W7Jh2ZcvQi6ND+/ZZCBAt64ny6qiXg8h0DWgTFAugUg2
        eUSQrTI0mcNsS+c9F/f8wbClT5DFutYTISs1ZmDS3tQyUADUT/np67uYtaF5
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIFHDCCAwSgAwIBAgIJANUP8luj8tazMA0GCSqGSIb3DQEBCwUAMBsxGTAXBgNVBAUTEGY5MjAw
        OWU4NTNiNmIwNDUwHhcNMTkxMTIyMjAzNzU4WhcNMzQxMTE4MjAzNzU4WjAbMRkwFwYDVQQFExBm
        OTIwMDllODUzYjZiMDQ1MIICIjANBgkqhkiG9w0BAQEFAAOCAg8AMIICCgKCAgEAr7bHgiuxpwHs
        K7Qui8xUFmOr75gvMsd/dTEDDJdSSxtf6An7xyqpRR90PL2abxM1dEqlXnf2tqw1Ne4Xwl5jlRfd
        nJLmN0pTy/4lj4/7tv0Sk3iiKkypnEUtR6WfMgH0QZfKHM1+di+y9TFRtv6y//0rb+T+W8a9nsNL
        /ggjnar86461qO0rOs2cXjp3kOG1FEJ5MVmFmBGtnrKpa73XpXyTqRxB/M0n1n/W9nGqC4FSYa04
        T6N5RIZGBN2z2MT5IKGbFlbC8UrW0DxW7AYImQQcHtGl/m00QLVWutHQoVJYnFPlXTcHYvASLu+R
        hhsbDmxMgJJ0mcDpvsC4PjvB+TxywElgS70vE0XmLD+OJtvsBslHZvPBKCOdT0MS+tgSOIfga+z1
        Z1g7+DVagf7quvmag8jfPioyKvxnK/EgsTUVi2ghzq8wm27ud/mIM7AY2qEORR8Go3TVB4HzWQgp
        Zrt3i5MIlCaY504LzSRiigHCzAPlHws+W0rB5N+er5/2pJKnfBSDiCiFAVtCLOZ7gLiMm0jhO2B6
        tUXHI/+MRPjy02i59lINMRRev56GKtcd9qO/0kUJWdZTdA2XoS82ixPvZtXQpUpuL12ab+9EaDK8
        Z4RHJYYfCT3Q5vNAXaiWQ+8PTWm2QgBR/bkwSWc+NpUFgNPN9PvQi8WEg5UmAGMCAwEAAaNjMGEw
        HQYDVR0OBBYEFDZh4QB8iAUJUYtEbEf/GkzJ6k8SMB8GA1UdIwQYMBaAFDZh4QB8iAUJUYtEbEf/
        GkzJ6k8SMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMA0GCSqGSIb3DQEBCwUAA4IC
        AQBOMaBc8oumXb2voc7XCWnuXKhBBK3e2KMGz39t7lA3XXRe2ZLLAkLM5y3J7tURkf5a1SutfdOy
        XAmeE6SRo83Uh6WszodmMkxK5GM4JGrnt4pBisu5igXEydaW7qq2CdC6DOGjG+mEkN8/TA6p3cno
        L/sPyz6evdjLlSeJ8rFBH6xWyIZCbrcpYEJzXaUOEaxxXxgYz5/cTiVKN2M1G2okQBUIYSY6bjEL
        4aUN5cfo7ogP3UvliEo3Eo0YgwuzR2v0KR6C1cZqZJSTnghIC/vAD32KdNQ+c3N+vl2OTsUVMC1G
        iWkngNx1OO1+kXW+YTnnTUOtOIswUP/Vqd5SYgAImMAfY8U9/iIgkQj6T2W6FsScy94IN9fFhE1U
        tzmLoBIuUFsVXJMTz+Jucth+IqoWFua9v1R93/k98p41pjtFX+H8DslVgfP097vju4KDlqN64xV1
        grw3ZLl4CiOe/A91oeLm2UHOq6wn3esB4r2EIQKb6jTVGu5sYCcdWpXr0AUVqcABPdgL+H7qJguB
        w09ojm6xNIrw2OocrDKsudk/okr/AwqEyPKw9WnMlQgLIKw1rODG2NvU9oR3GVGdMkUBZutL8VuF
        kERQGt6vQ2OCw0sV47VMkuYbacK/xyZFiRcrPJPb41zgbQj9XAEyLKCHex0SdDrx+tWUDqG8At2J
        HA==
        -----END CERTIFICATE-----
        """
}
